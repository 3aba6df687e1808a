"""How use cases reach a task: read it, check its tenant, and write a step of it."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.claim import Step
from session_store.domain.identifiers import check_task_id
from session_store.domain.task import Task
from session_store.domain.task_steps import as_of
from session_store.errors import NotFoundError
from session_store.ports import Clock, Ids, TaskStorage
from session_store.services.claim_stepping import apply_step
from session_store.services.home import Home


class TaskAccess(Struct, frozen=True, kw_only=True):
    storage: TaskStorage
    clock: Clock
    ids: Ids
    home: Home

    def load(self, caller: Caller, task_id: str) -> Task:
        """Read the tenant's task consistently in this region, as ``authorize``.

        Raises:
            NotFoundError: absent, expired, or another tenant's.
            InvalidRequestError
        """
        return self.authorize(caller, self.storage.read(check_task_id(task_id)))

    def load_at_home(self, caller: Caller, task_id: str) -> Task:
        """``load`` before a write, which only the task's home region makes.

        Raises:
            MisdirectedError, NotFoundError, InvalidRequestError
        """
        task = self.load(caller, task_id)
        self.home.check(task.home_region)
        return task

    def authorize(self, caller: Caller, stored: Task | None) -> Task:
        """Return the task that was read, if it is the tenant's, as it is now: lapsed if its time is over.

        Raises:
            NotFoundError
        """
        now_ms = self.clock.now_ms()
        if stored is None or stored.tenant != caller.tenant or stored.is_expired(now_ms):
            raise NotFoundError("There is no such task.")
        return as_of(stored, now_ms)

    def apply_step(self, caller: Caller, task_id: str, judge: Callable[[Task], Step[Task]]) -> Step[Task]:
        """Judge the task and write the step, again where a concurrent write got in between.

        Raises:
            StoreError: raised by ``judge``.
            NotFoundError, MisdirectedError, ThrottledError
        """
        return apply_step(
            lambda stored: self.with_write_id(judge(self.authorize(caller, stored))),
            self.storage.put,
            self.load_at_home(caller, task_id),
        )

    def with_write_id(self, step: Step[Task]) -> Step[Task]:
        """Give the step's write an id, by which a resent write recognises itself."""
        if step.replayed:
            return step
        return replace(step, claim=replace(step.claim, last_write=self.ids.operation_id()))
