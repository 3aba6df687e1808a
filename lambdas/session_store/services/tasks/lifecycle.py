"""Tasks and approvals as their requesters use them: create, read, list, cancel."""

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
from session_store.domain.task_steps import as_of, cancelled
from session_store.domain.task_writes import TaskFilter
from session_store.errors import ForbiddenError, InvalidRequestError
from session_store.ports import Ids, TaskStorage
from session_store.services.access import SessionAccess
from session_store.services.tasks.access import TaskAccess
from session_store.services.tasks.new_tasks import (
    NewTask,
    TaskSeed,
    build_task,
    check_deadline,
    check_new,
)

MAX_OPEN: Final = 100
"""Open tasks of a session in its recovery view; the list of tasks has them all."""


class OpenTasks(Struct, frozen=True, kw_only=True):
    """``more``: the session has more open tasks than these."""

    oldest: tuple[Task, ...]
    more: bool


class Tasks(Struct, frozen=True, kw_only=True):
    """Every caller of a task's tenant may read it. ``sessions``: access to the sessions of tasks."""

    storage: TaskStorage
    access: TaskAccess
    sessions: SessionAccess
    ids: Ids

    def create(self, caller: Caller, new: NewTask) -> Task:
        """Create a task or an approval. The session it names, if any, must be the caller's and at home here.

        Raises:
            ForbiddenError: an approval requested by a caller without a subject.
            InvalidRequestError, PayloadTooLargeError, SessionNotFoundError, MisdirectedError
        """
        check_new(caller, new)
        session = self.session_of(caller, new)
        seed = self.new_seed()
        check_deadline(new, now_ms=seed.at)
        task = build_task(caller, new, seed)
        self.storage.create(task)
        if session is not None:
            self.sessions.slide_quietly(caller, session)
        return task

    def session_of(self, caller: Caller, new: NewTask) -> Session | None:
        return None if new.session_id is None else self.sessions.load_at_home(caller, new.session_id)

    def new_seed(self) -> TaskSeed:
        region = self.access.home.region
        return TaskSeed(task_id=self.ids.task_id(region), at=self.access.clock.now_ms(), region=region)

    def get(self, caller: Caller, task_id: str) -> Task:
        """Read a task of the caller's tenant.

        Raises:
            NotFoundError, InvalidRequestError
        """
        return self.access.load(caller, task_id)

    def list(
        self, caller: Caller, wanted: TaskFilter, page: PageRequest[TaskPosition]
    ) -> Page[Task, TaskPosition]:
        """List tasks of the caller's tenant; open ones if ``wanted`` names no status.

        Eventually consistent: recent changes may be missing for a moment. A task that has lapsed is not
        listed as open any more, and is listed under its final status once that has been written.

        Raises:
            InvalidRequestError: a malformed queue, or a status that the kind cannot have.
        """
        if wanted.queue is not None:
            check_identifier(wanted.queue, path="query queue")
        if wanted.session_id is not None:
            check_session_id(wanted.session_id, path="query sessionId")
        kinds = TaskKind if wanted.kind is None else [wanted.kind]
        if wanted.status is not None and not any(wanted.status in STATUSES[kind] for kind in kinds):
            raise InvalidRequestError(f"No {wanted.kind} can be {wanted.status}", path="query status")
        now_ms = self.access.clock.now_ms()
        result = self.storage.page(caller.tenant, wanted, now_ms=now_ms, page=page)
        return replace(result, items=_not_lapsed(result.items, now_ms))

    def open_of(self, session_id: str) -> OpenTasks:
        """Read the oldest open tasks of a session, without payloads. The caller was authorized before."""
        now_ms = self.access.clock.now_ms()
        found = self.storage.open_in(session_id, now_ms=now_ms, limit=MAX_OPEN + 1)
        return OpenTasks(oldest=tuple(found[:MAX_OPEN]), more=len(found) > MAX_OPEN)

    def cancel(self, caller: Caller, task_id: str) -> Task:
        """Cancel a task. A worker that holds it is fenced at its next request.

        Raises:
            ForbiddenError: an approval, and the caller did not request it.
            InvalidTransitionError: it has ended in another status.
            NotFoundError, MisdirectedError, InvalidRequestError
        """

        def judge(task: Task) -> Step[Task]:
            if task.kind is TaskKind.APPROVAL and task.requester != caller.subject:
                raise ForbiddenError("Only the requester of an approval may cancel it.")
            return cancelled(task, author=author_of(caller), now_ms=self.access.clock.now_ms())

        return self.access.apply_step(caller, task_id, judge).claim


def _not_lapsed(tasks: Sequence[Task], now_ms: int) -> tuple[Task, ...]:
    """The tasks that have not lapsed since they were written."""
    return tuple(task for task in tasks if as_of(task, now_ms) is task)
