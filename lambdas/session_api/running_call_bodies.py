"""Request bodies about tool calls that are run under a lease."""

from typing import Annotated, Any

import msgspec

from session_api.bodies import Body
from session_api.context_bodies import NewMessageBody
from session_api.lease_bodies import DEFAULT_LEASE, Fence, LeaseSeconds, Reconcile
from session_api.session_bodies import ChangeState, MoveSession
from session_api.task_bodies import FollowUpTasks, new_tasks
from session_api.tool_call_bodies import DurationMs
from session_store.domain.claim import ClaimStatus
from session_store.domain.message import MAX_BATCH
from session_store.domain.session import Status
from session_store.services.tool_calls.begin import NewCall
from session_store.services.tool_calls.requests import CallOutcome, SessionChange


class BeginToolCall(Body, frozen=True):
    """A tool call that is about to be run."""

    tool_call_id: str
    """The caller's id of the call, unique within the session: 1 to 256 printable ASCII characters."""

    tool_name: str
    """The tool to be called: printable ASCII without spaces."""

    input: Any
    """What the tool is called with: any JSON value. The same id with another tool or input is refused."""

    attempt_id: str | None = None
    """The caller's name for this attempt: sent again under it, the request gets the same fence again."""

    lease_seconds: LeaseSeconds = DEFAULT_LEASE
    """Seconds until the lease expires; cut to end a minute before the session's `maxExpiresAt`."""

    retry_safe: bool = False
    """Whether the call may be run again if its lease expires without an outcome."""

    def to_domain(self) -> NewCall:
        return NewCall(
            tool_call_id=self.tool_call_id,
            tool_name=self.tool_name,
            input=self.input,
            attempt_id=self.attempt_id,
            lease_seconds=self.lease_seconds,
            retry_safe=self.retry_safe,
        )


class CompleteToolCall(Body, frozen=True):
    """The outcome of a call that succeeded, and what is written in the same transaction."""

    fence: Fence
    """The fencing token that the lease was granted with."""

    output: Any
    """What the tool returned: any JSON value."""

    duration_ms: DurationMs | None = None
    """Milliseconds that the call took; absent: as long as the attempt lasted."""

    state: ChangeState | None = None
    """Operations on the session's state."""

    messages: Annotated[list[NewMessageBody], msgspec.Meta(max_length=MAX_BATCH)] = msgspec.field(
        default_factory=list
    )
    """Messages to append to the session's context."""

    status: MoveSession | None = None
    """The status that the session is to have."""

    tasks: FollowUpTasks = msgspec.field(default_factory=list)
    """Tasks to create in the same session."""

    expected_version: Annotated[int, msgspec.Meta(ge=1, le=2**53)] | None = None
    """The version that the session must have; absent: any."""

    def outcome(self) -> CallOutcome:
        return CallOutcome(status=ClaimStatus.COMPLETED, output=self.output, duration_ms=self.duration_ms)

    def change(self) -> SessionChange:
        return SessionChange(
            operations=None if self.state is None else self.state.to_domain(),
            messages=[message.to_domain() for message in self.messages],
            to=None if self.status is None else Status(self.status.to),
            expected_version=self.expected_version,
            tasks=new_tasks(self.tasks, "$.tasks"),
        )


class FailToolCall(Body, frozen=True):
    """The outcome of a call that failed."""

    fence: Fence
    """The fencing token that the lease was granted with."""

    error: Any
    """How the call failed: any JSON value."""

    duration_ms: DurationMs | None = None
    """Milliseconds that the call took; absent: as long as the attempt lasted."""

    def outcome(self) -> CallOutcome:
        return CallOutcome(status=ClaimStatus.FAILED, error=self.error, duration_ms=self.duration_ms)


def reconciled_call(body: Reconcile) -> CallOutcome | None:
    """The outcome that a reconciliation gives a call; None where it may be begun again."""
    status = body.status()
    return None if status is None else CallOutcome(status=status, output=body.output, error=body.error)
