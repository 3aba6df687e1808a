"""Transactions that end a task, and filters of task lists."""

from msgspec import Struct

from session_store.domain.audit_event import AuditEvent
from session_store.domain.claim import ClaimGuard
from session_store.domain.task import OPEN, Task, TaskKind, TaskStatus


class TaskSettlement(Struct, frozen=True, kw_only=True):
    """The end of a task with its followers and its event, all or nothing. ``guard`` is the task's."""

    task: Task
    guard: ClaimGuard
    token: str
    followers: tuple[Task, ...] = ()
    event: AuditEvent | None = None


class TaskFilter(Struct, frozen=True, kw_only=True):
    """The tasks that a list shows. ``status`` None: the open ones; any other None: no filter."""

    queue: str | None = None
    status: TaskStatus | None = None
    kind: TaskKind | None = None
    session_id: str | None = None

    @property
    def of_open_ones(self) -> bool:
        return self.status is None or self.status in OPEN

    def takes(self, task: Task) -> bool:
        """Whether the list shows the task, as it is now."""
        return (
            self.queue in (None, task.queue)
            and (task.status in OPEN if self.status is None else task.status is self.status)
            and self.kind in (None, task.kind)
            and self.session_id in (None, task.session_id)
        )
