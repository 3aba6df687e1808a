"""The bodies of requests on tool calls that are being run."""

from typing import Annotated, Any

import msgspec

from session_api.bodies import (
    DEFAULT_LEASE,
    Body,
    ChangeState,
    Fence,
    Lease,
    MoveSession,
    NewMessageBody,
    Reconcile,
)
from session_api.task_bodies import Following, meanings
from session_api.tool_call_bodies import Duration
from session_store.domain.claim import ClaimStatus
from session_store.domain.message import MAX_BATCH
from session_store.domain.session import Status
from session_store.services.context import NewMessage
from session_store.services.tool_calls.begin import NewCall
from session_store.services.tool_calls.requests import CallOutcome, SessionChange


class BeginToolCall(Body, frozen=True):
    """`attemptId` names the attempt: sent again, it is given its fence again."""

    tool_call_id: str
    tool_name: str
    input: Any
    attempt_id: str | None = None
    lease_seconds: Lease = DEFAULT_LEASE
    retry_safe: bool = False

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
    """The output, and what changes together with it: the session, and tasks, which are in that session."""

    fence: Fence
    output: Any
    duration_ms: Duration | None = None
    state: ChangeState | None = None
    messages: Annotated[list[NewMessageBody], msgspec.Meta(max_length=MAX_BATCH)] = msgspec.field(
        default_factory=list
    )
    status: MoveSession | None = None
    tasks: Following = msgspec.field(default_factory=list)
    expected_version: Annotated[int, msgspec.Meta(ge=1, le=2**53)] | None = None

    def outcome(self) -> CallOutcome:
        return CallOutcome(status=ClaimStatus.COMPLETED, output=self.output, duration_ms=self.duration_ms)

    def change(self) -> SessionChange:
        return SessionChange(
            operations=None if self.state is None else self.state.to_domain(),
            messages=[NewMessage(content=new.content, message_id=new.message_id) for new in self.messages],
            to=None if self.status is None else Status(self.status.to),
            expected_version=self.expected_version,
            tasks=meanings(self.tasks, "$.tasks"),
        )


class FailToolCall(Body, frozen=True):
    fence: Fence
    error: Any
    duration_ms: Duration | None = None

    def outcome(self) -> CallOutcome:
        return CallOutcome(status=ClaimStatus.FAILED, error=self.error, duration_ms=self.duration_ms)


def reconciled_call(found: Reconcile) -> CallOutcome | None:
    """None: to be tried again."""
    status = found.status()
    return None if status is None else CallOutcome(status=status, output=found.output, error=found.error)
