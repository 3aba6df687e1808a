"""Pages of task lists: an index names the candidates, and each is read consistently before it is shown."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.page import OF_SESSION, Page, PageRequest, TaskMark, TaskPosition
from session_store.domain.task import Task
from session_store.domain.task_writes import TaskFilter
from session_store.domain.times import from_iso, iso
from session_store.schema import OPEN_INDEX, QUEUE_INDEX, TASK_SK, Attribute, task_pk
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.codec import Item, from_item, item_size, to_item
from session_store.storage.dynamodb.expressions import Terms, all_of, is_equal
from session_store.storage.dynamodb.task_items import lanes_of, task_from, task_id_of, task_key
from session_store.storage.dynamodb.task_page import FIRST_BATCH, TaskPage

A: Final = Attribute
FILTERED_ENTRIES: Final = 100
"""Index entries that are read at once where a filter may drop some of them."""

ROUNDS: Final = 10
"""How often a page reads on while it is not full; it is returned short after that."""


class Entry(Struct, frozen=True, kw_only=True):
    """A task as an index has it. What the index does not project is None."""

    mark: TaskMark
    status: str | None = None
    kind: str | None = None
    session_id: str | None = None

    @property
    def task_id(self) -> str:
        return self.mark.task_id


class Shard(Struct, frozen=True):
    """One partition of a lane in the queue index."""

    region: str
    number: int


class TaskListing(Struct, frozen=True, kw_only=True):
    """One tenant's list of the wanted tasks; ``shards`` is how many a lane has in each of ``regions``."""

    client: Client
    shards: int
    regions: Sequence[str]
    tenant: str
    wanted: TaskFilter
    now_ms: int

    def page(self, page: PageRequest[TaskPosition]) -> Page[Task, TaskPosition]:
        lanes = self._lanes()
        at = page.after if page.after and page.after.lane in lanes else TaskPosition(lane=lanes[0])
        contents = TaskPage(limit=page.limit, first_batch=at.batch or FIRST_BATCH)
        for _ in range(ROUNDS):
            at, lane_ended = self._advance(at, contents)
            if contents.full:
                break
            if lane_ended:
                following = lanes[lanes.index(at.lane) + 1 :]
                if not following:
                    return Page(items=tuple(contents.tasks.values()), next=None)
                at = TaskPosition(lane=following[0])
        return Page(items=tuple(contents.tasks.values()), next=replace(at, batch=contents.next_batch))

    def _lanes(self) -> list[str]:
        if self.wanted.session_id is not None and self.wanted.of_open_ones:
            return [OF_SESSION]
        return list(map(str, lanes_of(self.wanted)))

    def _advance(self, at: TaskPosition, contents: TaskPage) -> tuple[TaskPosition, bool]:
        """Add tasks of the lane until the page is full or the entries are used up.

        Returns the position reached, and whether the lane has ended.
        """
        entries, more = self._entries(at, limit=contents.limit)
        for entry, item in self._read(entries, contents):
            if item is not None and self._is_wanted(task := task_from(item)):
                contents.add(task, size=item_size(item))
                if contents.overflowed:
                    return at, False
            at = _past(at, entry.mark)
            if contents.full:
                return at, False
        return at, not more

    def _is_wanted(self, task: Task) -> bool:
        return task.tenant == self.tenant and self.wanted.takes(task) and not task.is_expired(self.now_ms)

    def _read(self, entries: Sequence[Entry], contents: TaskPage) -> Iterator[tuple[Entry, Item | None]]:
        """Each entry with its item; None where the entry itself rules the task out, or the task is gone."""
        start = 0
        while start < len(entries):
            part = entries[start : start + contents.batch]
            wanted = dict.fromkeys(entry.task_id for entry in part if _may_match(entry, self.wanted))
            items = self.client.get_all(list(map(task_key, wanted))) if wanted else []
            by_id = {task_id_of(from_item({A.PK: item[A.PK]})): item for item in items}
            for entry in part:
                yield entry, by_id.get(entry.task_id)
            start += len(part)

    def _entries(self, at: TaskPosition, *, limit: int) -> tuple[list[Entry], bool]:
        """The next entries of a lane in its order, and whether it has more."""
        if at.lane == OF_SESSION:
            return self._of_session(at, limit=limit)
        queue = self.wanted.queue
        count = limit if self.wanted == TaskFilter(queue=queue) else FILTERED_ENTRIES
        # DynamoDB refuses a start key outside the key condition: marks of other queues cannot be used.
        marks = {Shard(mark.region, mark.shard): mark for mark in at.marks if queue in (None, mark.queue)}
        places = [Shard(region, number) for region in self.regions for number in range(self.shards)]

        def read(shard: Shard) -> tuple[list[Entry], bool]:
            return self._of_shard(at.lane, shard, limit=count, after=marks.get(shard))

        with ThreadPoolExecutor(len(places)) as pool:
            parts = list(pool.map(read, places))
        merged = list(heapq.merge(*(entries for entries, _ in parts), key=_order))
        more = len(merged) > count or any(unread for _, unread in parts)
        return merged[:count], more

    def _of_shard(
        self, lane: str, shard: Shard, *, limit: int, after: TaskMark | None
    ) -> tuple[list[Entry], bool]:
        terms = Terms()
        partition: dict[Attribute, Any] = {
            A.TENANT: self.tenant,
            A.HOME_REGION: shard.region,
            A.LANE: lane,
            A.SHARD: shard.number,
        }
        clauses = [is_equal(terms, name, value) for name, value in partition.items()]
        if self.wanted.queue is not None:
            clauses.append(is_equal(terms, A.QUEUE, self.wanted.queue))
        items, last = self.client.query(
            start=None if after is None else _queue_start(partition, after),
            IndexName=QUEUE_INDEX.name,
            KeyConditionExpression=all_of(*clauses),
            Limit=limit,
            **terms.arguments(),
        )
        return [queue_entry(item, shard) for item in items], last is not None

    def _of_session(self, at: TaskPosition, *, limit: int) -> tuple[list[Entry], bool]:
        session_id = self.wanted.session_id or ""
        start = None
        for mark in at.marks:
            start = to_item({A.OPEN_IN: session_id, A.CREATED_AT: iso(mark.at), **_key(mark)})
        items, last = self.client.query(start=start, **open_query(session_id, limit=limit))
        stored = map(from_item, items)
        entries = [Entry(mark=_mark(each, Shard("", 0), queue="", at=each[A.CREATED_AT])) for each in stored]
        return entries, last is not None


def open_query(session_id: str, *, limit: int) -> dict[str, Any]:
    """Arguments of a query for what is open in a session, by creation, up to ``limit`` entries a page."""
    terms = Terms()
    return {
        "IndexName": OPEN_INDEX.name,
        "KeyConditionExpression": is_equal(terms, Attribute.OPEN_IN, session_id),
        "Limit": limit,
        **terms.arguments(),
    }


def queue_entry(item: Item, shard: Shard) -> Entry:
    """An entry of the queue index."""
    stored = from_item(item)
    return Entry(
        mark=_mark(stored, shard, queue=stored[A.QUEUE], at=stored[A.CLAIMABLE_FROM]),
        status=stored[A.CLAIM_STATUS],
        kind=stored[A.KIND],
        session_id=stored.get(A.SESSION_ID),
    )


def _queue_start(partition: Mapping[Attribute, Any], after: TaskMark) -> Item:
    place = {A.QUEUE: after.queue, A.CLAIMABLE_FROM: iso(after.at)}
    return to_item({**_key(after), **dict(partition.items()), **dict(place.items())})


def _key(mark: TaskMark) -> dict[str, Any]:
    return {A.PK: task_pk(mark.task_id), A.SK: TASK_SK}


def _mark(stored: dict[str, Any], shard: Shard, *, queue: str, at: str) -> TaskMark:
    return TaskMark(
        region=shard.region, shard=shard.number, queue=queue, at=from_iso(at), task_id=task_id_of(stored)
    )


def _order(entry: Entry) -> tuple[str, int]:
    return entry.mark.queue, entry.mark.at


def _past(at: TaskPosition, mark: TaskMark) -> TaskPosition:
    """The position after an entry: its mark replaces the one of the same shard."""
    others = (each for each in at.marks if (each.region, each.shard) != (mark.region, mark.shard))
    return TaskPosition(lane=at.lane, marks=(*others, mark))


def _may_match(entry: Entry, wanted: TaskFilter) -> bool:
    """Whether the entry leaves it open that the task is wanted; what the index does not tell may match."""
    return (
        (wanted.status is None or entry.status in (None, wanted.status))
        and (wanted.kind is None or entry.kind in (None, wanted.kind))
        and (wanted.session_id is None or entry.kind is None or entry.session_id == wanted.session_id)
    )
