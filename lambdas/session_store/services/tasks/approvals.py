"""The decision of approvals."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import NO_SUBJECT, Caller, Permission
from session_store.domain.claim import Step
from session_store.domain.json_values import check
from session_store.domain.session import author_of
from session_store.domain.task import DECISIONS, MAX_COMMENT, Task, TaskKind, TaskStatus
from session_store.domain.task_steps import decided
from session_store.domain.task_writes import TaskSettlement
from session_store.errors import ForbiddenError, InvalidRequestError, ThrottledError
from session_store.ports import TaskStorage
from session_store.schema import task_pk
from session_store.services.audit_events import AuditEvents
from session_store.services.claim_stepping import MAX_CONFLICT_ATTEMPTS
from session_store.services.permissions import check_permission
from session_store.services.tasks.access import TaskAccess


class Approvals(Struct, frozen=True, kw_only=True):
    storage: TaskStorage
    access: TaskAccess
    events: AuditEvents

    def decide(
        self, caller: Caller, task_id: str, *, decision: TaskStatus, comment: str | None = None
    ) -> Step[Task]:
        """Decide an approval, with an audit event in the same transaction.

        The same decision again is a replay and succeeds, even by another approver.

        Raises:
            ForbiddenError: the caller is not an approver, has no subject, or requested the approval.
            AlreadyDecidedError: decided the other way, cancelled, or past its deadline.
            InvalidRequestError: the id is that of a task, not of an approval.
            NotFoundError, MisdirectedError
        """
        check_permission(caller, Permission.APPROVER)
        if caller.subject == NO_SUBJECT:
            raise ForbiddenError("An approval must be decided by a named subject.")
        if decision not in DECISIONS:
            raise InvalidRequestError("Must be approved or rejected", path="$.decision")
        check(comment, path="$.comment")
        if comment is not None and len(comment) > MAX_COMMENT:
            raise InvalidRequestError(f"At most {MAX_COMMENT} characters", path="$.comment")
        for _ in range(MAX_CONFLICT_ATTEMPTS):
            task = self.access.load_at_home(caller, task_id)
            _check(caller, task)
            step = decided(
                task,
                decision=decision,
                decided_by=caller.subject,
                comment=comment,
                author=author_of(caller),
                now_ms=self.access.clock.now_ms(),
            )
            step = self.access.with_write_id(step)
            if step.replayed or self._write(caller, step):
                return step
        raise ThrottledError

    def _write(self, caller: Caller, step: Step[Task]) -> bool:
        """Whether the step was written; False after a conflict, when it is to be judged again."""
        task, guard = step.claim, step.guard
        if guard is None:
            return True
        event = self.events.of(caller, "ApprovalDecided", pk=task_pk(task.task_id), at=guard.now_ms)
        facts = {"decision": task.status.value, "queue": task.queue, "requestedBy": task.requester}
        return self.storage.settle(
            TaskSettlement(
                task=task, guard=guard, token=event.operation_id, event=replace(event, facts=facts)
            )
        )


def _check(caller: Caller, task: Task) -> None:
    if task.kind is not TaskKind.APPROVAL:
        raise InvalidRequestError("Only an approval can be decided", path="taskId")
    if task.requester == caller.subject:
        raise ForbiddenError("The requester of an approval may not decide it.")
