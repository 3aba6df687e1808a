"""The way to a task that every use case takes: is it there, is it the tenant's, is it over by now."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller, Permission
from session_store.domain.claim import Step
from session_store.domain.identifiers import check_task_id
from session_store.domain.task import Task
from session_store.domain.task_steps import by_now
from session_store.errors import ForbiddenError, MisdirectedError, NotFoundError
from session_store.ports import Clock, Ids, TaskStorage
from session_store.services.claim_stepping import apply_step


class TaskAccess(Struct, frozen=True, kw_only=True):
    storage: TaskStorage
    clock: Clock
    ids: Ids
    region: str

    def load(self, caller: Caller, task_id: str) -> Task:
        """The tenant's task, read consistently in this region, as ``authorize``.

        Raises:
            NotFoundError: absent, gone, or another tenant's.
            InvalidRequestError
        """
        return self.authorize(caller, self.storage.read(check_task_id(task_id)))

    def load_at_home(self, caller: Caller, task_id: str) -> Task:
        """As ``load``, before a write, which only the task's home region does.

        Raises:
            MisdirectedError
        """
        task = self.load(caller, task_id)
        if task.home_region != self.region:
            raise MisdirectedError(home_region=task.home_region)
        return task

    def authorize(self, caller: Caller, there: Task | None) -> Task:
        """What was read, if it is the tenant's; one whose end has come by itself is over.

        Raises:
            NotFoundError
        """
        now_ms = self.clock.now_ms()
        if there is None or there.tenant != caller.tenant or there.is_gone(now_ms):
            raise NotFoundError("There is no such task.")
        return by_now(there, now_ms)

    def apply_step(self, caller: Caller, task_id: str, judge: Callable[[Task], Step[Task]]) -> Step[Task]:
        """A step of the task, taken until what is there stands still.

        Raises:
            StoreError: what ``judge`` says of what is there.
            NotFoundError, MisdirectedError, ThrottledError
        """
        held = self.load_at_home(caller, task_id)
        return apply_step(
            lambda there: self.with_write_id(judge(self.authorize(caller, there))), self.storage.put, held
        )

    def with_write_id(self, step: Step[Task]) -> Step[Task]:
        """The step as one write, which knows itself from every other."""
        if step.guard is None:
            return step
        return replace(step, claim=replace(step.claim, last_write=self.ids.operation_id()))


def check_permission(caller: Caller, permission: Permission) -> None:
    """Raises:
    ForbiddenError: the caller does not have it.
    """
    if permission not in caller.permissions:
        raise ForbiddenError(f"This needs the {permission} permission.")
