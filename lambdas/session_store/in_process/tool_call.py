"""A tool call that a block runs."""

from collections.abc import Sequence
from typing import TypedDict, Unpack

from msgspec import Struct
from msgspec.structs import replace

from session_store.deadline import Deadline
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
    """The requests to the store for one call. Each blocks; ``deadline`` holds for all but renewals."""

    running: RunningCalls
    finished: FinishedCalls
    deadline: Deadline
    caller: Caller
    session_id: str
    new: NewCall

    def for_one_attempt(self) -> "CallSteps":
        """The steps with an attempt id, by which a repeated begin gets its fence again."""
        attempt_id = self.new.attempt_id or self.running.ids.operation_id()
        return replace(self, new=replace(self.new, attempt_id=attempt_id))

    def begin(self) -> BeginResult:
        return self.running.begin(self.caller, self.session_id, self.new)

    def extend(self, fence: int) -> Claim:
        with self.deadline.lifted():
            return self.running.heartbeat(
                self.caller,
                self.session_id,
                self.new.tool_call_id,
                fence=fence,
                lease_seconds=self.new.lease_seconds,
            )

    def finish(self, fence: int, outcome: CallOutcome, change: SessionChange) -> FinishResult:
        return self.finished.finish(
            self.caller,
            self.session_id,
            self.new.tool_call_id,
            fence=fence,
            outcome=outcome,
            change=change,
        )


class CompletionOptions(TypedDict, total=False):
    """What a completion can carry beside its output: changes of the session, and tasks to create.

    ``status`` is the session's next one. ``duration_ms``: by default the time since the attempt began.
    """

    state: StateOperations | None
    messages: Sequence[NewMessage]
    status: Status | None
    tasks: Sequence[NewTask]
    expected_version: int | None
    duration_ms: int | None


class HeldCall(Work):
    """A call that was begun, by this attempt or an earlier one."""

    def __init__(self, steps: CallSteps, *, renew_for: int = RENEW_FOR) -> None:
        begun = steps.begin()
        claim = begun.claim
        lease = Lease(
            lambda: steps.extend(claim.fence),
            until_ms=claim.lease_until_ms,
            clock=steps.running.clock,
            renew_for=renew_for,
        )
        super().__init__(
            lease=lease, fence=claim.fence, downstream_token=downstream_token(claim), outcome=begun.record
        )
        self._steps = steps

    def _complete(self, output: JsonValue, options: CompletionOptions) -> FinishResult:
        change = SessionChange(
            operations=options.get("state"),
            messages=options.get("messages", ()),
            to=options.get("status"),
            tasks=options.get("tasks", ()),
            expected_version=options.get("expected_version"),
        )
        outcome = CallOutcome(
            status=ClaimStatus.COMPLETED, output=output, duration_ms=options.get("duration_ms")
        )
        return self._finish(outcome, change)

    def _fail(self, error: JsonValue, duration_ms: int | None) -> FinishResult:
        return self._finish(CallOutcome(status=ClaimStatus.FAILED, error=error, duration_ms=duration_ms))

    def _finish(self, outcome: CallOutcome, change: SessionChange = NO_CHANGE) -> FinishResult:
        self._settlement_sent = True
        result = self._steps.finish(self.fence, outcome, change)
        self._outcome = result.record
        return result


class ToolCall(HeldCall):
    def complete(self, output: JsonValue, **options: Unpack[CompletionOptions]) -> FinishResult:
        """Complete the call, with what it changes in its session, in one transaction.

        After an error the call is still held, and can be completed again.

        Raises:
            OutcomeUnknownError: the response was lost; the same request again succeeds if it was done.
            FencedError: another attempt has taken over; nothing was written.
            IdempotencyMismatchError: the call has another outcome.
            UnexpectedVersionError, InvalidTransitionError, SessionClosedError, ContentConflictError:
                nothing was written; without the change it may succeed.
            InvalidRequestError, PayloadTooLargeError, SessionNotFoundError, NotFoundError,
                MisdirectedError, ThrottledError
        """
        return self._complete(output, options)

    def fail(self, error: JsonValue, *, duration_ms: int | None = None) -> FinishResult:
        """Fail the call for good. Later attempts get ``error``, and do not run it.

        Raises:
            StoreError: as ``complete``.
        """
        return self._fail(error, duration_ms)
