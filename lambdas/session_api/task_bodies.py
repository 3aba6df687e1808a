"""The bodies of requests on tasks and approvals."""

from typing import Annotated, Any, Final, Literal

import msgspec

from session_api.bodies import Body, Fence, Lease, moment
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

RETENTION_DAYS: Final = DEFAULT_RETENTION // DAY_SECONDS


class CreateTask(Body, frozen=True):
    """`dueAt` and `deadline` are ISO 8601 with a zone; without `dueAt` a task is due at once.

    `retainDays`: how long it stays when it is over.
    """

    queue: str
    payload: Any
    kind: Literal["task", "approval"] = "task"
    due_at: str | None = None
    deadline: str | None = None
    session_id: str | None = None
    retain_days: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_RETENTION_DAYS)] = RETENTION_DAYS

    def to_domain(self, at: str = "$") -> NewTask:
        """``at``: where the body stands."""
        return NewTask(
            queue=self.queue,
            payload=self.payload,
            kind=TaskKind(self.kind),
            due_at=moment(self.due_at, path=f"{at}.dueAt"),
            deadline=moment(self.deadline, path=f"{at}.deadline"),
            session_id=self.session_id,
            retain_days=self.retain_days,
        )


Following = Annotated[list[CreateTask], msgspec.Meta(max_length=MAX_NEXT)]


class ClaimTasks(Body, frozen=True):
    """At most `max` tasks of the queue that are due."""

    queue: str
    lease_seconds: Lease
    max: Annotated[int, msgspec.Meta(ge=1, le=MAX_CLAIM)] = 1


class CompleteTask(Body, frozen=True):
    """The result, and the tasks that are created together with it."""

    fence: Fence
    result: Any
    next: Following = msgspec.field(default_factory=list)


class FailTask(Body, frozen=True):
    """Without `retryInSeconds` the pause grows from attempt to attempt."""

    fence: Fence
    error: Any
    retry_in_seconds: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_DELAY)] | None = None


class DecideApproval(Body, frozen=True):
    decision: Literal["approved", "rejected"]
    comment: Annotated[str, msgspec.Meta(max_length=MAX_COMMENT)] | None = None

    def status(self) -> TaskStatus:
        return TaskStatus(self.decision)


def meanings(bodies: list[CreateTask], at: str) -> list[NewTask]:
    return [body.to_domain(f"{at}[{position}]") for position, body in enumerate(bodies)]
