"""Tasks in DynamoDB."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from session_store.domain.claim import ClaimGuard
from session_store.domain.page import Page, PageRequest, TaskPosition
from session_store.domain.task import Task
from session_store.domain.task_steps import is_open
from session_store.domain.task_writes import TaskFilter, TaskSettlement
from session_store.domain.times import iso
from session_store.ports import Refused
from session_store.schema import QUEUE_INDEX, Attribute, Due
from session_store.storage.dynamodb.audit_items import audit_event_item
from session_store.storage.dynamodb.client import (
    Client,
    ConditionFailedError,
    TokenUsedError,
    TransactionRefusedError,
)
from session_store.storage.dynamodb.codec import Item, from_item
from session_store.storage.dynamodb.due_index import due_pages
from session_store.storage.dynamodb.expressions import (
    Terms,
    all_of,
    is_absent,
    is_equal,
    is_home,
    matches_guard,
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
from session_store.storage.dynamodb.task_lists import TaskListing, open_query

A: Final = Attribute
MAX_DUE_PAGES: Final = 20
"""Pages of one shard that a claim reads: entries of tasks that were just taken may come first."""

INDEX_PAGE: Final = 100
"""Entries of a page of overdue or open tasks."""


class TaskTable(Struct, frozen=True, kw_only=True):
    """``shards`` is how many partitions a lane of the queue index has in each of ``regions``."""

    client: Client
    audit_table: str
    shards: int
    regions: Sequence[str]

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

    def read_all(self, task_ids: Sequence[str]) -> dict[str, Task]:
        if not task_ids:
            return {}
        tasks = map(task_from, self.client.get_all([task_key(task_id) for task_id in task_ids]))
        return {task.task_id: task for task in tasks}

    def put(self, task: Task, guard: ClaimGuard) -> Refused[Task] | None:
        item = task_item(task, shards=self.shards)
        return put_guarded(self.client, item, guard, clause=matches_guard, read=task_from)

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
            pages = self.client.pages(
                most=MAX_DUE_PAGES,
                IndexName=QUEUE_INDEX.name,
                KeyConditionExpression=keys,
                Limit=limit,
                **terms.arguments(),
            )
            yield from map(_task_ids, pages)

    def overdue(self, *, region: str, now_ms: int) -> Iterator[Sequence[str]]:
        pages = due_pages(
            self.client, Due.TASK_END, region=region, shards=self.shards, now_ms=now_ms, limit=INDEX_PAGE
        )
        yield from map(_task_ids, pages)

    def open_in(self, session_id: str, *, now_ms: int, limit: int) -> Sequence[Task]:
        tasks: list[Task] = []
        for ids in map(_task_ids, self.client.pages(**open_query(session_id, limit=INDEX_PAGE))):
            items = self.client.get_all([task_key(task_id) for task_id in ids], only=WITHOUT_PAYLOADS)
            by_id = {task.task_id: task for task in map(task_from, items)}
            tasks += [by_id[each] for each in ids if each in by_id and is_open(by_id[each], now_ms)]
            if len(tasks) >= limit:
                break
        return tasks[:limit]

    def page(
        self, tenant: str, wanted: TaskFilter, *, now_ms: int, page: PageRequest[TaskPosition]
    ) -> Page[Task, TaskPosition]:
        listing = TaskListing(
            client=self.client,
            shards=self.shards,
            regions=self.regions,
            tenant=tenant,
            wanted=wanted,
            now_ms=now_ms,
        )
        return listing.page(page)


def _task_ids(entries: Sequence[Item]) -> list[str]:
    """The tasks of index entries, each once: an index may still have an older entry of a task."""
    return list(dict.fromkeys(task_id_of(from_item(entry)) for entry in entries))
