"""Tasks in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from session_store.domain.claim import ClaimGuard, admits
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.page import OF_SESSION, Page, PageRequest, TaskMark, TaskPosition
from session_store.domain.task import Task, claimable_from, lapses_at
from session_store.domain.task_steps import is_open
from session_store.domain.task_writes import TaskFilter, TaskSettlement
from session_store.ports import Refused
from session_store.storage.dynamodb.codec import item_size
from session_store.storage.dynamodb.task_items import Lane, lane_of, lanes_of, task_item
from session_store.storage.memory.keys import held_key, other_operation
from session_store.storage.memory.pages import paged
from session_store.storage.memory.state import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTasks:
    memory: Memory

    def create(self, task: Task) -> None:
        with self.memory.lock:
            self.memory.tasks[task.task_id] = task

    def read(self, task_id: str) -> Task | None:
        with self.memory.lock:
            return self.memory.tasks.get(task_id)

    def read_all(self, task_ids: Sequence[str]) -> dict[str, Task]:
        with self.memory.lock:
            return {each: self.memory.tasks[each] for each in task_ids if each in self.memory.tasks}

    def put(self, task: Task, guard: ClaimGuard) -> Refused[Task] | None:
        with self.memory.lock:
            held = self.memory.tasks.get(task.task_id)
            if held == task:
                return None
            if held is None or not admits(held, guard):
                return Refused(held=held)
            self.memory.tasks[task.task_id] = task
            return None

    def settle(self, settlement: TaskSettlement) -> bool:
        with self.memory.lock:
            if any(task.task_id in self.memory.tasks for task in settlement.followers):
                return False
            if self.put(settlement.task, settlement.guard) is not None:
                return False
            self.memory.tasks.update({task.task_id: task for task in settlement.followers})
            if settlement.event is not None:
                self.memory.events.append(settlement.event)
            return True

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
        del shuffle
        tasks = sorted(
            (claimable_from(task), task.task_id)
            for task in self._all()
            if (task.tenant, task.queue, task.home_region) == (tenant, queue, region)
            and lane_of(task) is Lane.OPEN
            and claimable_from(task) <= now_ms
        )
        yield from _parts([task_id for _, task_id in tasks], limit)

    def overdue(self, *, region: str, now_ms: int) -> Iterator[Sequence[str]]:
        ends = ((lapses_at(task), task) for task in self._all() if task.home_region == region)
        tasks = sorted((at, task.task_id) for at, task in ends if at is not None and at <= now_ms)
        yield from _parts([task_id for _, task_id in tasks], 100)

    def open_in(self, session_id: str, *, now_ms: int, limit: int) -> Sequence[Task]:
        tasks = [task for task in self._all() if task.session_id == session_id and is_open(task, now_ms)]
        oldest = sorted(tasks, key=lambda task: (task.created_at, task.task_id))[:limit]
        return [replace(task, payload=None, result=None, error=None, comment=None) for task in oldest]

    def page(
        self, tenant: str, wanted: TaskFilter, *, now_ms: int, page: PageRequest[TaskPosition]
    ) -> Page[Task, TaskPosition]:
        by_session = wanted.session_id is not None and wanted.of_open_ones
        lanes = [OF_SESSION] if by_session else list(map(str, lanes_of(wanted)))

        def place(task: Task) -> TaskPosition:
            at = task.created_at if by_session else claimable_from(task)
            queue = "" if by_session else task.queue
            mark = TaskMark(region="", shard=0, queue=queue, at=at, task_id=task.task_id)
            return TaskPosition(lane=OF_SESSION if by_session else lane_of(task), marks=(mark,))

        def order(position: TaskPosition) -> tuple[int, str, int, str]:
            (mark,) = position.marks
            return lanes.index(position.lane), mark.queue, mark.at, mark.task_id

        tasks = [
            task
            for task in self._all()
            if task.tenant == tenant and wanted.takes(task) and not task.is_expired(now_ms)
        ]
        return paged(tasks, page, place=place, order=order, size=_size)

    def _all(self) -> list[Task]:
        with self.memory.lock:
            return list(self.memory.tasks.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryKeyedTasks:
    """New tasks under keys; ``tasks`` is over the same memory."""

    memory: Memory
    tasks: MemoryTasks

    def create(self, task: Task, claim: KeyClaim) -> KeyClaim | None:
        with self.memory.lock:
            held = held_key(self.memory, claim)
            if held is None:
                self.tasks.create(task)
                self.memory.keys[claim.key_hash] = claim
            return other_operation(held, claim)

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        with self.memory.lock:
            return self.memory.keys.get(key_hash)


def _parts(task_ids: Sequence[str], limit: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(task_ids), limit):
        yield task_ids[start : start + limit]


def _size(task: Task) -> int:
    return item_size(task_item(task, shards=1))
