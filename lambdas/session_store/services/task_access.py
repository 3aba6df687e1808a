"""The way to a task that every use case takes: is it there, is it the tenant's, is it over by now."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller, Permission
from session_store.domain.claim import Step
from session_store.domain.identifiers import check_task_id
from session_store.domain.session import author_of
from session_store.domain.task import Task
from session_store.domain.task_steps import lapsed
from session_store.errors import ForbiddenError, MisdirectedError, NotFoundError
from session_store.ports import Clock, Ids, TaskStorage
from session_store.services.claiming import stepped


class TaskAccess(Struct, frozen=True, kw_only=True):
    storage: TaskStorage
    clock: Clock
    ids: Ids
    region: str

    def found(self, caller: Caller, task_id: str) -> Task:
        """The tenant's task, read consistently in this region.

        One that has come to its end by itself, and is at home here, is ended by whoever meets it.

        Raises:
            NotFoundError: absent, gone, or another tenant's.
            InvalidRequestError
        """
        task = self.seen(caller, self.storage.read(check_task_id(task_id)))
        if task.home_region != self.region:
            return task
        over = lapsed(task, author=author_of(caller), now_ms=self.clock.now_ms())
        step = None if over is None else self.stamped(over)
        if step is None or step.guard is None:
            return task
        refused = self.storage.put(step.claim, step.guard)
        return step.claim if refused is None else self.seen(caller, refused.held)

    def found_at_home(self, caller: Caller, task_id: str) -> Task:
        """As ``found``, before a write, which only the task's home region does.

        Raises:
            MisdirectedError
        """
        task = self.found(caller, task_id)
        if task.home_region != self.region:
            raise MisdirectedError(home_region=task.home_region)
        return task

    def seen(self, caller: Caller, there: Task | None) -> Task:
        """Raises:
        NotFoundError
        """
        if there is None or there.tenant != caller.tenant or there.is_gone(self.clock.now_ms()):
            raise NotFoundError("There is no such task.")
        return there

    def stepped(self, caller: Caller, task_id: str, judge: Callable[[Task], Step[Task]]) -> Step[Task]:
        """A step of the task, taken until what is there stands still.

        Raises:
            StoreError: what ``judge`` says of what is there.
            NotFoundError, MisdirectedError, ThrottledError
        """
        held = self.found_at_home(caller, task_id)
        return stepped(lambda there: self.stamped(judge(self.seen(caller, there))), self.storage.put, held)

    def stamped(self, step: Step[Task]) -> Step[Task]:
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
