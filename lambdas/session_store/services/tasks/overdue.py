"""Tasks that lapse: past their deadline, or with the lease of their last attempt expired."""

from typing import Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.session import Author
from session_store.domain.task import Task
from session_store.domain.task_steps import lapsed
from session_store.services.principals import EXPIRY_WATCH
from session_store.services.tasks.access import TaskAccess

MAX_TASKS: Final = 2000
"""Tasks that one run looks at; the next run continues."""

RESERVE: Final = 25.0
"""Seconds of the deadline that are left to the notices of expiring sessions."""


class OverdueResult(Struct, frozen=True, kw_only=True):
    """``ended``: tasks that this run ended. ``more``: it stopped before the last one."""

    ended: int
    more: bool


class OverdueTasks(Struct, frozen=True, kw_only=True):
    access: TaskAccess
    deadline: Deadline

    def run(self, *, request_id: str) -> OverdueResult:
        """Write the end of each task at home here that has lapsed.

        A task that was claimed, decided or ended concurrently is left alone.
        """
        author = Author(principal=EXPIRY_WATCH, request_id=request_id)
        access, storage = self.access, self.access.storage
        ended = looked_at = 0
        for task_ids in storage.overdue(region=access.home.region, now_ms=access.clock.now_ms()):
            for task in storage.read_all(task_ids).values():
                if looked_at == MAX_TASKS or self.deadline.remaining() < RESERVE:
                    return OverdueResult(ended=ended, more=True)
                looked_at += 1
                ended += self._end(task, author)
        return OverdueResult(ended=ended, more=False)

    def _end(self, task: Task, author: Author) -> bool:
        """Whether the task had lapsed and its end was written."""
        step = lapsed(task, author=author, now_ms=self.access.clock.now_ms())
        if step is None or step.guard is None:
            return False
        return self.access.storage.put(self.access.with_write_id(step).claim, step.guard) is None
