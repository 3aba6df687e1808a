"""A tool call that a block runs."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.claim import ClaimStatus
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Status
from session_store.domain.state_operations import StateOperations
from session_store.domain.tool_call import Claim, downstream_token
from session_store.in_process.lease import RENEW_FOR, Lease
from session_store.in_process.work import Work
from session_store.services.context import NewMessage
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tool_calls.begin import BeginResult, NewCall, RunningCalls
from session_store.services.tool_calls.finish import FinishedCalls, FinishResult
from session_store.services.tool_calls.requests import NO_CHANGE, CallOutcome, SessionChange


class CallSteps(Struct, frozen=True, kw_only=True):
    """What the store does for one call. Each step blocks."""

    running: RunningCalls
    finished: FinishedCalls
    caller: Caller
    session_id: str
    new: NewCall

    def of_one_attempt(self) -> "CallSteps":
        """Under a name of its own, so that whoever begins again is given its fence again."""
        attempt_id = self.new.attempt_id or self.running.ids.operation_id()
        return replace(self, new=replace(self.new, attempt_id=attempt_id))

    def begin(self) -> BeginResult:
        return self.running.begin(self.caller, self.session_id, self.new)

    def extend(self, fence: int) -> Claim:
        return self.running.heartbeat(
            self.caller,
            self.session_id,
            self.new.tool_call_id,
            fence=fence,
            lease_seconds=self.new.lease_seconds,
        )

    def end(self, fence: int, outcome: CallOutcome, change: SessionChange) -> FinishResult:
        return self.finished.finish(
            self.caller,
            self.session_id,
            self.new.tool_call_id,
            fence=fence,
            outcome=outcome,
            change=change,
        )


class HeldCall(Work):
    """A call that was begun, now or before."""

    def __init__(self, steps: CallSteps, *, renew_for: int = RENEW_FOR) -> None:
        begun = steps.begin()
        claim = begun.claim
        lease = Lease(
            lambda: steps.extend(claim.fence),
            until_ms=claim.lease_until_ms,
            seconds=steps.new.lease_seconds,
            clock=steps.running.clock,
            renew_for=renew_for,
        )
        super().__init__(
            lease=lease, fence=claim.fence, downstream_token=downstream_token(claim), settled=begun.record
        )
        self._steps = steps

    def _end(self, outcome: CallOutcome, change: SessionChange = NO_CHANGE) -> FinishResult:
        self._end_asked = True
        finished = self._steps.end(self.fence, outcome, change)
        self._settled = finished.record
        return finished


class ToolCall(HeldCall):
    def complete(
        self,
        output: JsonValue,
        *,
        state: StateOperations | None = None,
        messages: Sequence[NewMessage] = (),
        status: Status | None = None,
        tasks: Sequence[NewTask] = (),
        expected_version: int | None = None,
        duration_ms: int | None = None,
    ) -> FinishResult:
        """Write the outcome, and with it what the call changes in its session and the tasks that follow.

        All of it is done, or nothing.

        ``duration_ms`` None: since the attempt began. After a refusal, or an answer that was lost,
        the call is still held: complete it once more.

        Raises:
            OutcomeUnknownError: the answer was lost; the same again is a success if it was done.
            FencedError: another attempt has taken over, and nothing is done.
            IdempotencyMismatchError: the call has another outcome.
            UnexpectedVersionError, InvalidTransitionError, SessionClosedError, ContentConflictError:
                nothing is done; without the change it may be.
            InvalidRequestError, PayloadTooLargeError, SessionNotFoundError, NotFoundError,
                MisdirectedError, ThrottledError
        """
        change = SessionChange(
            operations=state,
            messages=messages,
            to=status,
            tasks=tasks,
            expected_version=expected_version,
        )
        return self._end(completed(output, duration_ms), change)

    def fail(self, error: JsonValue, *, duration_ms: int | None = None) -> FinishResult:
        """Write that the work has failed, for good: who asks again is told ``error``, and does not run it.

        Raises:
            As ``complete``.
        """
        return self._end(failed(error, duration_ms))


def completed(output: JsonValue, duration_ms: int | None) -> CallOutcome:
    return CallOutcome(status=ClaimStatus.COMPLETED, output=output, duration_ms=duration_ms)


def failed(error: JsonValue, duration_ms: int | None) -> CallOutcome:
    return CallOutcome(status=ClaimStatus.FAILED, error=error, duration_ms=duration_ms)
