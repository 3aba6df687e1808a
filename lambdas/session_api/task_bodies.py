"""Request bodies about tasks and approvals."""

from typing import Annotated, Any, Final, Literal

import msgspec

from session_api.bodies import Body, parse_time
from session_api.lease_bodies import Fence, LeaseSeconds
from session_store.domain.task import (
    DEFAULT_RETENTION,
    LONGEST_DELAY,
    LONGEST_RETENTION_DAYS,
    MAX_COMMENT,
    MAX_NEXT,
    TaskKind,
    TaskStatus,
)
from session_store.domain.times import DAY_SECONDS
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tasks.work import MAX_CLAIM

DEFAULT_RETENTION_DAYS: Final = DEFAULT_RETENTION // DAY_SECONDS


class CreateTask(Body, frozen=True):
    """A task for a queue, or a request for an approval."""

    queue: str
    """The queue within the tenant: printable ASCII without spaces."""

    payload: Any
    """What the worker or approver needs: any JSON value. Shares 300 KB with the result and the error."""

    kind: Literal["task", "approval"] = "task"
    """Work for a worker, or a question that an approver decides."""

    due_at: str | None = None
    """When it may first be claimed, ISO 8601 with a time zone; absent: at once."""

    deadline: str | None = None
    """When it fails, or an approval expires, if still pending. Not before `dueAt`; without one, in the
    future. ISO 8601 with a zone."""

    session_id: str | None = None
    """A session of the caller's that it belongs to."""

    retain_days: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_RETENTION_DAYS)] = DEFAULT_RETENTION_DAYS
    """Days that it stays readable once it is over."""

    def to_domain(self, path: str = "$") -> NewTask:
        """``path``: where the body stands in the request's."""
        return NewTask(
            queue=self.queue,
            payload=self.payload,
            kind=TaskKind(self.kind),
            due_at=parse_time(self.due_at, path=f"{path}.dueAt"),
            deadline=parse_time(self.deadline, path=f"{path}.deadline"),
            session_id=self.session_id,
            retain_days=self.retain_days,
        )


FollowUpTasks = Annotated[list[CreateTask], msgspec.Meta(max_length=MAX_NEXT)]


class ClaimTasks(Body, frozen=True):
    """Which tasks a worker takes."""

    queue: str
    """The queue within the tenant."""

    lease_seconds: LeaseSeconds
    """Seconds until the leases expire; a heartbeat extends one."""

    max: Annotated[int, msgspec.Meta(ge=1, le=MAX_CLAIM)] = 1
    """How many tasks at most."""


class CompleteTask(Body, frozen=True):
    """The result of a task, and the tasks created in the same transaction."""

    fence: Fence
    """The fencing token that the task was claimed with."""

    result: Any
    """What the work returned: any JSON value. Shares 300 KB with the payload."""

    next: FollowUpTasks = msgspec.field(default_factory=list)
    """Tasks to create, in the session of this one unless they name another session of the caller's."""


class FailTask(Body, frozen=True):
    """How an attempt at a task failed."""

    fence: Fence
    """The fencing token that the task was claimed with."""

    error: Any
    """How the attempt failed: any JSON value. Shares 300 KB with the payload."""

    retry_in_seconds: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_DELAY)] | None = None
    """Seconds until the task is due again; absent: 10 after the first attempt, then doubled each time."""


class DecideApproval(Body, frozen=True):
    """The decision about an approval."""

    decision: Literal["approved", "rejected"]
    """The decision, which is final."""

    comment: Annotated[str, msgspec.Meta(max_length=MAX_COMMENT)] | None = None
    """The reason for the decision, kept with the approval."""

    def status(self) -> TaskStatus:
        return TaskStatus(self.decision)


def new_tasks(bodies: list[CreateTask], path: str) -> list[NewTask]:
    """``path``: where the list stands in the request's body."""
    return [body.to_domain(f"{path}[{position}]") for position, body in enumerate(bodies)]
