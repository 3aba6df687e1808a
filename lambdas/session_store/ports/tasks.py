"""Tasks and approvals."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from session_store.domain.claim import ClaimGuard
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.page import (
    Page,
    PageRequest,
    TaskPosition,
)
from session_store.domain.task import Task
from session_store.domain.task_writes import TaskFilter, TaskSettlement
from session_store.ports.claims import Refused


class TaskStorage(Protocol):
    def create(self, task: Task) -> None:
        """Store the task. Its id is new, so an existing item is its own, from a lost response."""
        ...

    def read(self, task_id: str) -> Task | None:
        """Read a task consistently, of any tenant, expired or not."""
        ...

    def read_all(self, task_ids: Sequence[str]) -> dict[str, Task]:
        """Read those of up to 100 tasks that exist, by id, consistently."""
        ...

    def put(self, task: Task, guard: ClaimGuard) -> Refused[Task] | None:
        """Write the task on the condition of the guard, as ``ToolCallStorage.put``."""
        ...

    def settle(self, settlement: TaskSettlement) -> bool:
        """Write everything or nothing.

        False when nothing was written, or an earlier attempt wrote it. Read and judge again.

        Raises:
            PayloadTooLargeError: too much for one transaction.
        """
        ...

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
        """Ids of tasks that may be claimable, the first due of each index partition in turn.

        ``shuffle`` orders the partitions. Parts are read lazily. Eventually consistent.
        """
        ...

    def overdue(self, *, region: str, now_ms: int) -> Iterator[Sequence[str]]:
        """Ids of tasks of any tenant that may have lapsed, read as ``due``."""
        ...

    def open_in(self, session_id: str, *, now_ms: int, limit: int) -> Sequence[Task]:
        """Read the oldest tasks of a session that are open at ``now_ms``, without their payloads.

        The list is eventually consistent; each task in it is read consistently.
        """
        ...

    def page(
        self, tenant: str, wanted: TaskFilter, *, now_ms: int, page: PageRequest[TaskPosition]
    ) -> Page[Task, TaskPosition]:
        """List tasks of a tenant, lane by lane, in each by queue and time. Consistent as ``open_in``."""
        ...


class KeyedTaskStorage(Protocol):
    """New tasks together with the claim of an idempotency key: both or neither."""

    def create(self, task: Task, claim: KeyClaim) -> KeyClaim | None:
        """Store a new task and the claim, as ``KeyedSessionStorage.create``."""
        ...

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        """Read the claim that holds a key consistently, expired or not."""
        ...
