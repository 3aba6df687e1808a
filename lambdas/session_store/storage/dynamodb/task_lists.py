"""Lists of tasks: an index says which there are, and each is read as it is."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from msgspec import Struct

from session_store.domain.page import Page, PageRequest, TaskMark, TaskPosition
from session_store.domain.task import Task
from session_store.domain.task_writes import TaskFilter
from session_store.domain.times import from_iso, iso
from session_store.schema import OPEN_INDEX, QUEUE_INDEX, TASK_SK, Attribute, task_pk
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.codec import Item, from_item, item_size, to_item
from session_store.storage.dynamodb.expressions import Terms, all_of, is_equal
from session_store.storage.dynamodb.partition import PAGE_BYTES
from session_store.storage.dynamodb.task_items import lanes_of, task_from, task_id_of, task_key

A: Final = Attribute
OF_SESSION: Final = "session"
"""The lane of a list by a session, which the open index serves."""

SLICE: Final = 20
"""Tasks that are read at once: they may be large, and a page ends when it is."""

LOOKED_AT: Final = 100
"""Entries of an index that are read at once where not all of them are wanted."""

ROUNDS: Final = 10
"""How often a page goes on to look while it has found nothing like enough."""


class Entry(Struct, frozen=True, kw_only=True):
    """A task as an index has it, and where."""

    mark: TaskMark
    status: str | None = None
    kind: str | None = None
    session_id: str | None = None

    @property
    def task_id(self) -> str:
        return self.mark.task_id


class TaskLists(Struct, frozen=True, kw_only=True):
    """``shards`` is the number of partitions that a lane has in each of ``regions``."""

    client: Client
    shards: int
    regions: Sequence[str]

    def page(
        self, tenant: str, wanted: TaskFilter, *, now_ms: int, page: PageRequest[TaskPosition]
    ) -> Page[Task, TaskPosition]:
        by_session = wanted.session_id is not None and wanted.of_open_ones
        lanes = [OF_SESSION] if by_session else list(map(str, lanes_of(wanted)))
        at = page.after if page.after and page.after.lane in lanes else TaskPosition(lane=lanes[0])
        found: list[Task] = []
        size = 0
        for _ in range(ROUNDS):
            entries, more = self._entries(tenant, wanted, at, limit=page.limit)
            for entry, item in self._read(entries, wanted):
                task = None if item is None else task_from(item)
                if task is not None and _is_wanted(task, tenant, wanted, now_ms):
                    size += item_size(item or {})
                    if found and size > PAGE_BYTES:
                        return Page(items=tuple(found), next=at)
                    found.append(task)
                at = _past(at, entry.mark)
                if len(found) == page.limit:
                    break
            else:
                if not more:
                    rest = lanes[lanes.index(at.lane) + 1 :]
                    if not rest:
                        return Page(items=tuple(found), next=None)
                    at = TaskPosition(lane=rest[0])
            if len(found) == page.limit:
                break
        return Page(items=tuple(found), next=at)

    def read_all(self, task_ids: Sequence[str]) -> dict[str, Task]:
        if not task_ids:
            return {}
        found = map(task_from, self.client.get_all([task_key(task_id) for task_id in task_ids]))
        return {task.task_id: task for task in found}

    def _read(self, entries: Sequence[Entry], wanted: TaskFilter) -> Iterator[tuple[Entry, Item | None]]:
        """Each entry with its item, where the entry says that it may be wanted."""
        for start in range(0, len(entries), SLICE):
            part = entries[start : start + SLICE]
            keys = [task_key(entry.task_id) for entry in part if _may_be(entry, wanted)]
            items = self.client.get_all(keys) if keys else []
            by_id = {task_id_of(from_item({A.PK: item[A.PK]})): item for item in items}
            for entry in part:
                yield entry, by_id.get(entry.task_id)

    def _entries(
        self, tenant: str, wanted: TaskFilter, at: TaskPosition, *, limit: int
    ) -> tuple[list[Entry], bool]:
        """The next ones of a lane in its order, and whether there are more in it."""
        if at.lane == OF_SESSION:
            return self._of_session(wanted.session_id or "", at, limit=limit)
        looked_at = LOOKED_AT if wanted != TaskFilter(queue=wanted.queue) else limit
        # A start outside of the queue that is asked for is none that DynamoDB takes.
        within = (mark for mark in at.marks if wanted.queue in (None, mark.queue))
        marks = {(mark.region, mark.shard): mark for mark in within}
        places = [(region, shard) for region in self.regions for shard in range(self.shards)]

        def read(place: tuple[str, int]) -> tuple[list[Entry], bool]:
            query = _place_query(tenant, wanted.queue, at.lane, place)
            return self._shard(query, place, limit=looked_at, after=marks.get(place))

        with ThreadPoolExecutor(len(places)) as pool:
            parts = list(pool.map(read, places))
        merged = heapq.merge(*(found for found, _ in parts), key=_order)
        ordered = list(merged)
        more = len(ordered) > looked_at or any(goes_on for _, goes_on in parts)
        return ordered[:looked_at], more

    def _shard(
        self, query: "_Query", place: tuple[str, int], *, limit: int, after: TaskMark | None
    ) -> tuple[list[Entry], bool]:
        start = {} if after is None else {"ExclusiveStartKey": query.start(after)}
        items, last = self.client.query(
            IndexName=QUEUE_INDEX.name,
            KeyConditionExpression=query.condition,
            Limit=limit,
            **query.terms.arguments(),
            **start,
        )
        return [_entry(from_item(item), place) for item in items], last is not None

    def _of_session(self, session_id: str, at: TaskPosition, *, limit: int) -> tuple[list[Entry], bool]:
        terms = Terms()
        start: dict[str, Any] = {}
        for mark in at.marks:
            start["ExclusiveStartKey"] = to_item(
                {
                    A.OPEN_IN: session_id,
                    A.CREATED_AT: iso(mark.at),
                    A.PK: task_pk(mark.task_id),
                    A.SK: TASK_SK,
                }
            )
        items, last = self.client.query(
            IndexName=OPEN_INDEX.name,
            KeyConditionExpression=is_equal(terms, A.OPEN_IN, session_id),
            Limit=limit,
            **terms.arguments(),
            **start,
        )
        found = [from_item(item) for item in items]
        entries = [Entry(mark=_mark(each, ("", 0), queue="", at=each[A.CREATED_AT])) for each in found]
        return entries, last is not None


class _Query(Struct, frozen=True, kw_only=True):
    """Of one partition of the queue index; ``values`` are those of its attributes."""

    terms: Terms
    condition: str
    values: Mapping[str, Any]

    def start(self, after: TaskMark) -> Item:
        return to_item(
            {
                **self.values,
                A.QUEUE: after.queue,
                A.CLAIMABLE_FROM: iso(after.at),
                A.PK: task_pk(after.task_id),
                A.SK: TASK_SK,
            }
        )


def _place_query(tenant: str, queue: str | None, lane: str, place: tuple[str, int]) -> _Query:
    terms = Terms()
    region, shard = place
    values: dict[Attribute, Any] = {A.TENANT: tenant, A.HOME_REGION: region, A.LANE: lane, A.SHARD: shard}
    clauses = [is_equal(terms, name, value) for name, value in values.items()]
    if queue is not None:
        clauses.append(is_equal(terms, A.QUEUE, queue))
    return _Query(terms=terms, condition=all_of(*clauses), values=dict(values.items()))


def _entry(stored: dict[str, Any], place: tuple[str, int]) -> Entry:
    return Entry(
        mark=_mark(stored, place, queue=stored[A.QUEUE], at=stored[A.CLAIMABLE_FROM]),
        status=stored[A.CLAIM_STATUS],
        kind=stored[A.KIND],
        session_id=stored.get(A.SESSION_ID),
    )


def _mark(stored: dict[str, Any], place: tuple[str, int], *, queue: str, at: str) -> TaskMark:
    region, shard = place
    return TaskMark(region=region, shard=shard, queue=queue, at=from_iso(at), task_id=task_id_of(stored))


def _order(entry: Entry) -> tuple[str, int]:
    return entry.mark.queue, entry.mark.at


def _past(at: TaskPosition, mark: TaskMark) -> TaskPosition:
    others = (each for each in at.marks if (each.region, each.shard) != (mark.region, mark.shard))
    return TaskPosition(lane=at.lane, marks=(*others, mark))


def _may_be(entry: Entry, wanted: TaskFilter) -> bool:
    """What the entry does not say may be so."""
    return (
        (wanted.status is None or entry.status in (None, wanted.status))
        and (wanted.kind is None or entry.kind in (None, wanted.kind))
        and (wanted.session_id is None or entry.kind is None or entry.session_id == wanted.session_id)
    )


def _is_wanted(task: Task, tenant: str, wanted: TaskFilter, now_ms: int) -> bool:
    return task.tenant == tenant and wanted.takes(task) and not task.is_expired(now_ms)
