"""Tasks that nobody came for: approvals past their deadline, and last attempts that died."""

from typing import Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.session import Author
from session_store.domain.task_steps import lapsed
from session_store.services.tasks.access import TaskAccess

PRINCIPAL: Final = "session-store expiry-watch"
MOST: Final = 2000
"""Tasks that one run ends; the next one goes on."""

RESERVE: Final = 25.0
"""Seconds of the deadline in which nothing more is begun: who has to be warned of an end has the rest."""


class OverdueResult(Struct, frozen=True, kw_only=True):
    """``ended``: by this run. ``more``: it did not come to all."""

    ended: int
    more: bool


class OverdueTasks(Struct, frozen=True, kw_only=True):
    access: TaskAccess
    deadline: Deadline

    def run(self, *, request_id: str) -> OverdueResult:
        """End what is at home here and has come to its end by itself.

        What somebody took, decided or ended meanwhile is left to them.
        """
        author = Author(principal=PRINCIPAL, request_id=request_id)
        access, storage = self.access, self.access.storage
        ended = met = 0
        for task_ids in storage.overdue(region=access.region, now_ms=access.clock.now_ms()):
            for task in storage.read_all(task_ids).values():
                if met == MOST or self.deadline.remaining() < RESERVE:
                    return OverdueResult(ended=ended, more=True)
                met += 1
                over = lapsed(task, author=author, now_ms=access.clock.now_ms())
                step = None if over is None else access.with_write_id(over)
                if step is not None and step.guard is not None:
                    ended += storage.put(step.claim, step.guard) is None
        return OverdueResult(ended=ended, more=False)
