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
        """Put the task. Its id is new, so the only item it may meet is its own, of a lost answer."""
        ...

    def read(self, task_id: str) -> Task | None:
        """Read consistently, whoever asks, expired or not."""
        ...

    def read_all(self, task_ids: Sequence[str]) -> dict[str, Task]:
        """Those of up to 100 tasks that exist, by id, read consistently."""
        ...

    def put(self, task: Task, guard: ClaimGuard) -> Refused[Task] | None:
        """As ``ToolCallStorage.put``."""
        ...

    def settle(self, settlement: TaskSettlement) -> bool:
        """Write everything or nothing. False: nothing, or another request did; read, and judge again.

        Raises:
            PayloadTooLargeError: more than one transaction takes.
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
        """Ids of tasks that may be there to be taken, the first due of one place after another.

        ``shuffle`` orders the places. Each part is read as it is asked for. Eventually consistent.
        """
        ...

    def overdue(self, *, region: str, now_ms: int) -> Iterator[Sequence[str]]:
        """Ids of tasks of any tenant that have come to their end by themselves, as ``due``."""
        ...

    def open_in(self, session_id: str, *, limit: int) -> Sequence[Task]:
        """The oldest tasks that are open in a session, without their payloads.

        Which there are is eventually consistent, each of them is read consistently.
        """
        ...

    def page(
        self, tenant: str, wanted: TaskFilter, *, now_ms: int, page: PageRequest[TaskPosition]
    ) -> Page[Task, TaskPosition]:
        """Tasks of a tenant: lane by lane, in each by queue and time. As consistent as ``open_in``."""
        ...


class KeyedTaskStorage(Protocol):
    """New tasks together with the claim of an idempotency key: both, or neither."""

    def create(self, task: Task, claim: KeyClaim) -> KeyClaim | None:
        """As ``KeyedSessionStorage.create``."""
        ...

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        """Read consistently, expired or not."""
        ...
