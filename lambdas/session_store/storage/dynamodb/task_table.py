"""Tasks in DynamoDB."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from session_store.domain.claim import ClaimGuard
from session_store.domain.task import Task
from session_store.domain.task_writes import TaskSettlement
from session_store.domain.times import iso
from session_store.ports import Refused
from session_store.schema import DUE_INDEX, OPEN_INDEX, QUEUE_INDEX, Attribute, Due
from session_store.storage.dynamodb.audit_items import audit_event_item
from session_store.storage.dynamodb.client import (
    ConditionFailedError,
    TokenUsedError,
    TransactionRefusedError,
)
from session_store.storage.dynamodb.codec import Item, from_item
from session_store.storage.dynamodb.expressions import (
    Terms,
    all_of,
    is_absent,
    is_equal,
    is_home,
    stands_as,
    unconditional_put,
)
from session_store.storage.dynamodb.leases import put_guarded
from session_store.storage.dynamodb.settlements import TWIN_PAUSE, check_limits
from session_store.storage.dynamodb.task_items import (
    WITHOUT_PAYLOADS,
    Lane,
    new_task_put,
    task_from,
    task_id_of,
    task_item,
    task_key,
    task_put,
)
from session_store.storage.dynamodb.task_lists import TaskLists

A: Final = Attribute
PAGES: Final = 20
"""How many pages of one shard are looked at for work: entries of what was just taken may lie in front."""

OVERDUE: Final = 100
"""Entries of a page of what has come to its end."""


class TaskTable(TaskLists, frozen=True, kw_only=True):
    audit_table: str

    def create(self, task: Task) -> None:
        terms = Terms()
        condition = is_absent(terms)
        try:
            self.client.put(
                task_item(task, shards=self.shards), ConditionExpression=condition, **terms.arguments()
            )
        except ConditionFailedError as failed:
            if not failed.answer_lost:
                raise

    def read(self, task_id: str) -> Task | None:
        item = self.client.get(task_key(task_id))
        return None if item is None else task_from(item)

    def put(self, task: Task, guard: ClaimGuard) -> Refused[Task] | None:
        item = task_item(task, shards=self.shards)
        return put_guarded(self.client, item, guard, clause=stands_as, read=task_from)

    def settle(self, settlement: TaskSettlement) -> bool:
        items = self._items(settlement)
        check_limits(items)
        try:
            self.client.transact(items, token=settlement.token)
        except TokenUsedError:
            self.client.attempts.pause(TWIN_PAUSE)
            return False
        except TransactionRefusedError:
            return False
        return True

    def _items(self, settlement: TaskSettlement) -> list[dict[str, Any]]:
        table, shards = self.client.table, self.shards
        items = [task_put(settlement.task, settlement.guard, table=table, shards=shards)]
        items += [new_task_put(task, table=table, shards=shards) for task in settlement.followers]
        if settlement.event is not None:
            items.append(unconditional_put(audit_event_item(settlement.event), table=self.audit_table))
        return items

    def due(
        self,
        tenant: str,
        queue: str,
        *,
        region: str,
        now_ms: int,
        limit: int,
        shuffle: Callable[[list[Any]], None],
    ) -> Iterator[Sequence[str]]:
        shards = list(range(self.shards))
        shuffle(shards)
        for shard in shards:
            terms = Terms()
            keys = all_of(
                is_equal(terms, A.TENANT, tenant),
                is_home(terms, region),
                is_equal(terms, A.LANE, Lane.OPEN),
                is_equal(terms, A.SHARD, shard),
                is_equal(terms, A.QUEUE, queue),
                f"{terms.name(A.CLAIMABLE_FROM)} <= {terms.value(iso(now_ms))}",
            )
            yield from self._ids(QUEUE_INDEX.name, keys, terms, limit=limit, pages=PAGES)

    def overdue(self, *, region: str, now_ms: int) -> Iterator[Sequence[str]]:
        for shard in range(self.shards):
            terms = Terms()
            keys = all_of(
                is_equal(terms, A.DUE, Due.TASK_END),
                is_home(terms, region),
                is_equal(terms, A.SHARD, shard),
                f"{terms.name(A.DUE_FROM)} <= {terms.value(iso(now_ms))}",
            )
            yield from self._ids(DUE_INDEX.name, keys, terms, limit=OVERDUE)

    def open_in(self, session_id: str, *, limit: int) -> Sequence[Task]:
        terms = Terms()
        keys = is_equal(terms, A.OPEN_IN, session_id)
        found: list[Task] = []
        for ids in self._ids(OPEN_INDEX.name, keys, terms, limit=OVERDUE):
            items = self.client.get_all([task_key(task_id) for task_id in ids], only=WITHOUT_PAYLOADS)
            there = {task.task_id: task for task in map(task_from, items)}
            found += [there[each] for each in ids if each in there and not there[each].is_settled]
            if len(found) >= limit:
                break
        return found[:limit]

    def _ids(
        self, index: str, keys: str, terms: Terms, *, limit: int, pages: int | None = None
    ) -> Iterator[Sequence[str]]:
        """Those of an index, a page at a time, none of them empty."""
        start: Item | None = None
        read = 0
        while pages is None or read < pages:
            after = {} if start is None else {"ExclusiveStartKey": start}
            items, start = self.client.query(
                IndexName=index, KeyConditionExpression=keys, Limit=limit, **terms.arguments(), **after
            )
            read += 1
            if items:
                yield [task_id_of(from_item(item)) for item in items]
            if start is None:
                return
