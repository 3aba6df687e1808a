"""Tasks and approvals as whoever asks for them sees them."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.claim import Step
from session_store.domain.identifiers import check_identifier, check_session_id
from session_store.domain.page import Page, PageRequest, TaskPosition
from session_store.domain.session import Session, author_of
from session_store.domain.task import STATUSES, Task, TaskKind
from session_store.domain.task_steps import by_now, cancelled
from session_store.domain.task_writes import TaskFilter
from session_store.errors import ForbiddenError, InvalidRequestError
from session_store.ports import Ids, TaskStorage
from session_store.services.access import SessionAccess
from session_store.services.tasks.access import TaskAccess
from session_store.services.tasks.new_tasks import NewTask, TaskSeed, build_task, check_new

MOST_OPEN: Final = 100
"""Open tasks of a session that are told of at once; its list has them all."""


class Tasks(Struct, frozen=True, kw_only=True):
    """A task is its tenant's: every caller of that may read it. ``sessions`` is the way to theirs."""

    storage: TaskStorage
    access: TaskAccess
    sessions: SessionAccess
    ids: Ids

    def create(self, caller: Caller, new: NewTask) -> Task:
        """A task that waits in its queue; one of a session is at home with that, which must be the caller's.

        Raises:
            ForbiddenError: an approval by a caller without a name.
            InvalidRequestError, PayloadTooLargeError, SessionNotFoundError, MisdirectedError
        """
        check_new(caller, new)
        session = self.session_of(caller, new)
        task = build_task(caller, new, self.new_seed())
        self.storage.create(task)
        if session is not None:
            self.sessions.slide_quietly(caller, session)
        return task

    def session_of(self, caller: Caller, new: NewTask) -> Session | None:
        return None if new.session_id is None else self.sessions.load_at_home(caller, new.session_id)

    def new_seed(self) -> TaskSeed:
        region = self.access.region
        return TaskSeed(task_id=self.ids.task_id(region), at=self.access.clock.now_ms(), region=region)

    def get(self, caller: Caller, task_id: str) -> Task:
        """Raises:
        NotFoundError, InvalidRequestError
        """
        return self.access.load(caller, task_id)

    def list(
        self, caller: Caller, wanted: TaskFilter, page: PageRequest[TaskPosition]
    ) -> Page[Task, TaskPosition]:
        """Tasks of the caller's tenant; those that are open, where no status is named.

        An index says which there are: what has just changed may be missing for a moment. One whose end has
        come by itself is no longer among the open ones, and among those that are over once that is written.

        Raises:
            InvalidRequestError: no such queue, or a status that the kind cannot have.
        """
        if wanted.queue is not None:
            check_identifier(wanted.queue, path="query queue")
        if wanted.session_id is not None:
            check_session_id(wanted.session_id)
        kinds = TaskKind if wanted.kind is None else [wanted.kind]
        if wanted.status is not None and not any(wanted.status in STATUSES[kind] for kind in kinds):
            raise InvalidRequestError(f"No {wanted.kind} is {wanted.status}", path="query status")
        now_ms = self.access.clock.now_ms()
        found = self.storage.page(caller.tenant, wanted, now_ms=now_ms, page=page)
        return replace(found, items=_unchanged(found.items, now_ms))

    def open_of(self, session_id: str) -> Sequence[Task]:
        """The oldest open tasks of a session, without payloads; whose it is, is to be judged before."""
        return _unchanged(self.storage.open_in(session_id, limit=MOST_OPEN), self.access.clock.now_ms())

    def cancel(self, caller: Caller, task_id: str) -> Task:
        """The task, which nobody takes or decides any more; who holds it learns that at the next step.

        Raises:
            ForbiddenError: an approval is withdrawn by who asked for it, and nobody else.
            InvalidTransitionError: it is over already, and not so.
            NotFoundError, MisdirectedError, InvalidRequestError
        """

        def judge(task: Task) -> Step[Task]:
            if task.kind is TaskKind.APPROVAL and task.requester != caller.subject:
                raise ForbiddenError("An approval is withdrawn by who asked for it.")
            return cancelled(task, author=author_of(caller), now_ms=self.access.clock.now_ms())

        return self.access.apply_step(caller, task_id, judge).claim


def _unchanged(tasks: Sequence[Task], now_ms: int) -> tuple[Task, ...]:
    """Those whose end has not come by itself since they were written."""
    return tuple(task for task in tasks if by_now(task, now_ms) is task)
