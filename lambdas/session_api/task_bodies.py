"""The bodies of requests on tasks and approvals."""

from typing import Annotated, Any, Literal

import msgspec

from session_api.bodies import Body, Following
from session_api.claim_bodies import Fence, Lease
from session_store.domain.task import (
    LONGEST_DELAY,
    MAX_COMMENT,
    TaskStatus,
)
from session_store.services.task_work import MAX_CLAIM


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
