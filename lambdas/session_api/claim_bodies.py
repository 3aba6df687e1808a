"""The bodies of requests on claims: of tool calls that are being run, and of free keys."""

from typing import Annotated, Any, Final, Literal

import msgspec

from session_api.bodies import Body, ChangeState, Following, MoveSession, NewMessageBody, meanings
from session_store.domain.claim import MAX_LEASE, MIN_LEASE, ClaimStatus
from session_store.domain.free_claim import DEFAULT_RETENTION, LONGEST_RETENTION
from session_store.domain.message import MAX_BATCH
from session_store.domain.session import Status
from session_store.domain.tool_call import MAX_DURATION_MS
from session_store.errors import InvalidRequestError
from session_store.services.call_ends import Outcome, SessionChange
from session_store.services.context import NewMessage
from session_store.services.free_claims import ClaimOutcome, NewClaim
from session_store.services.running_calls import NewCall

Lease = Annotated[int, msgspec.Meta(ge=MIN_LEASE, le=MAX_LEASE)]
Fence = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Duration = Annotated[int, msgspec.Meta(ge=0, le=MAX_DURATION_MS)]
Retention = Annotated[int, msgspec.Meta(ge=1, le=LONGEST_RETENTION)]
DEFAULT_LEASE: Final = 60


class BeginToolCall(Body, frozen=True):
    """`attemptId` names the attempt: sent again, it is given its fence again."""

    tool_call_id: str
    tool_name: str
    input: Any
    attempt_id: str | None = None
    lease_seconds: Lease = DEFAULT_LEASE
    retry_safe: bool = False

    def meaning(self) -> NewCall:
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

    def outcome(self) -> Outcome:
        return Outcome(status=ClaimStatus.COMPLETED, output=self.output, duration_ms=self.duration_ms)

    def change(self) -> SessionChange:
        return SessionChange(
            operations=None if self.state is None else self.state.meaning(),
            messages=[NewMessage(content=new.content, message_id=new.message_id) for new in self.messages],
            to=None if self.status is None else Status(self.status.to),
            expected_version=self.expected_version,
            tasks=meanings(self.tasks, "$.tasks"),
        )


class FailToolCall(Body, frozen=True):
    fence: Fence
    error: Any
    duration_ms: Duration | None = None

    def outcome(self) -> Outcome:
        return Outcome(status=ClaimStatus.FAILED, error=self.error, duration_ms=self.duration_ms)


class Heartbeat(Body, frozen=True):
    fence: Fence
    lease_seconds: Lease


class Reconcile(Body, frozen=True):
    """What has been found out: the `output` or the `error`, or that the work may be tried again.

    `fence`: of the attempt that was looked into, so that none that has come since is judged by it.
    """

    outcome: Literal["completed", "failed", "retry"]
    fence: Fence | None = None
    output: Any = None
    error: Any = None

    def status(self) -> ClaimStatus | None:
        """None: to be tried again."""
        if self.outcome != "retry":
            return ClaimStatus(self.outcome)
        for name in ("output", "error"):
            if getattr(self, name) is not None:
                raise InvalidRequestError("What is to be tried again has no outcome", path=f"$.{name}")
        return None

    def outcome_of_call(self) -> Outcome | None:
        status = self.status()
        return None if status is None else Outcome(status=status, output=self.output, error=self.error)

    def outcome_of_claim(self) -> ClaimOutcome | None:
        status = self.status()
        return None if status is None else ClaimOutcome(status=status, output=self.output, error=self.error)


class BeginClaim(Body, frozen=True):
    """`retainSeconds`: how long the claim stays once it was last written, a day after its lease at the least.

    Then its key is free, also where nobody has found out how its work ended.
    """

    input: Any
    attempt_id: str | None = None
    lease_seconds: Lease = DEFAULT_LEASE
    retry_safe: bool = False
    retain_seconds: Retention = DEFAULT_RETENTION

    def meaning(self) -> NewClaim:
        return NewClaim(
            input=self.input,
            attempt_id=self.attempt_id,
            lease_seconds=self.lease_seconds,
            retry_safe=self.retry_safe,
            retain_seconds=self.retain_seconds,
        )


class CompleteClaim(Body, frozen=True):
    fence: Fence
    output: Any

    def outcome(self) -> ClaimOutcome:
        return ClaimOutcome(status=ClaimStatus.COMPLETED, output=self.output)


class FailClaim(Body, frozen=True):
    fence: Fence
    error: Any

    def outcome(self) -> ClaimOutcome:
        return ClaimOutcome(status=ClaimStatus.FAILED, error=self.error)
