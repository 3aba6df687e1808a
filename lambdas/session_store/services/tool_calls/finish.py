"""Tool calls that end: with an outcome, or by somebody who found out what it was."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.claim import ClaimStatus
from session_store.domain.session import Session
from session_store.domain.settlement import Settlement
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.errors import (
    OutcomeUnknownError,
    SessionNotFoundError,
    ThrottledError,
    UnexpectedVersionError,
    VersionConflictError,
)
from session_store.ports import Clock, ToolCallStorage
from session_store.services.access import SessionAccess
from session_store.services.claim_stepping import MAX_CONFLICT_ATTEMPTS
from session_store.services.payload_parts import CLAIMS, RECORDS
from session_store.services.tool_calls.replay import read_settled_record
from session_store.services.tool_calls.requests import (
    NO_CHANGE,
    CallOutcome,
    FinishOperation,
    FinishRequest,
    SessionChange,
    check_finish,
)
from session_store.services.tool_calls.transaction import CallTransactionBuilder


class FinishResult(Struct, frozen=True, kw_only=True):
    """``record`` is None where the call may be tried again, ``session`` where it is gone.

    ``tasks``: ids of those that were created with it. ``appended``: how many
    messages are new by this request.
    """

    claim: Claim
    record: ToolCallRecord | None
    session: Session | None
    replayed: bool
    tasks: Sequence[str] = ()
    appended: int = 0


class FinishedCalls(Struct, frozen=True, kw_only=True):
    storage: ToolCallStorage
    access: SessionAccess
    transactions: CallTransactionBuilder
    clock: Clock

    def finish(
        self,
        caller: Caller,
        session_id: str,
        tool_call_id: str,
        *,
        fence: int,
        outcome: CallOutcome,
        change: SessionChange = NO_CHANGE,
    ) -> FinishResult:
        """Claim, record, audit event and what the call changes in its session, in one transaction.

        The same again is success whatever the session is by then. A call that changes nothing
        in its session may also end while that is closing, or closed.

        Raises:
            FencedError: another attempt has taken over.
            IdempotencyMismatchError: the call is settled with another outcome.
            UnexpectedVersionError, InvalidTransitionError, SessionClosedError, ContentConflictError:
                nothing is done.
            NotFoundError, SessionNotFoundError, MisdirectedError, InvalidRequestError, PayloadTooLargeError
        """
        operation = (
            FinishOperation.COMPLETE if outcome.status is ClaimStatus.COMPLETED else FinishOperation.FAIL
        )
        return self._ended(
            FinishRequest(
                caller=caller,
                session_id=session_id,
                tool_call_id=tool_call_id,
                operation=operation,
                outcome=outcome,
                change=change,
                fence=fence,
            )
        )

    def reconcile(
        self,
        caller: Caller,
        session_id: str,
        tool_call_id: str,
        *,
        outcome: CallOutcome | None,
        fence: int | None = None,
    ) -> FinishResult:
        """Settle a call that nobody holds any more, or (``outcome`` None) let it be tried again.

        ``fence``: of the attempt that was looked into; without it, whichever is there.

        Raises:
            InProgressError: its lease is running.
            FencedError: another attempt has come since.
            IdempotencyMismatchError: it is settled, and not so.
            NotFoundError, SessionNotFoundError, MisdirectedError, InvalidRequestError, PayloadTooLargeError
        """
        return self._ended(
            FinishRequest(
                caller=caller,
                session_id=session_id,
                tool_call_id=tool_call_id,
                operation=FinishOperation.RECONCILE,
                outcome=outcome,
                fence=fence,
            )
        )

    def _ended(self, end: FinishRequest) -> FinishResult:
        """Judge what is there, and write; where it was not what it was taken for, once more."""
        check_finish(end, self.transactions.context)
        for meeting in range(MAX_CONFLICT_ATTEMPTS):
            snapshot = self.storage.read_call(end.session_id, end.tool_call_id, message_ids=end.message_ids)
            claim = snapshot.claim
            if claim is not None and end.is_repeated(claim):
                return self._replayed(end, claim, snapshot.session)
            session = self.access.authorize_at_home(end.caller, snapshot.session)
            now_ms = self.clock.now_ms()
            step = end.step(claim, now_ms=now_ms)
            (whole,) = CLAIMS.opened(self.transactions.payloads, [step.claim], home=session.home_region)
            if step.guard is None:
                return FinishResult(claim=whole, record=None, session=session, replayed=True)
            try:
                settlement = self.transactions.build(
                    end, snapshot, session, step, now_ms=now_ms, again=meeting > 0
                )
                if self.storage.settle(settlement):
                    return self._done(end, settlement, session, whole)
            except VersionConflictError as error:
                raise UnexpectedVersionError(current_version=error.current_version) from error
        raise ThrottledError

    def _replayed(self, end: FinishRequest, claim: Claim, there: Session | None) -> FinishResult:
        """However the session is: what was done before stands."""
        record = self._as_sent(end, read_settled_record(self.storage, claim))
        home = self.transactions.payloads.region if there is None else there.home_region
        (whole,) = RECORDS.opened(self.transactions.payloads, [record], home=home)
        try:
            session = self.access.slide_quietly(end.caller, self.access.authorize_at_home(end.caller, there))
        except SessionNotFoundError:
            session = None
        tasks = end.task_ids(claim)
        return FinishResult(claim=claim, record=whole, session=session, replayed=True, tasks=tasks)

    def _done(
        self, end: FinishRequest, settlement: Settlement, session: Session, whole: Claim
    ) -> FinishResult:
        after = session if settlement.write is None else self._after_commit(end)
        if after is not None:
            after = self.access.slide_quietly(end.caller, after)
        kept = settlement.record
        record = None if kept is None else RECORDS.as_given(self._as_sent(end, kept), input=whole.input)
        claim = replace(settlement.claim, input=whole.input)
        return FinishResult(
            claim=claim,
            record=record,
            session=after,
            replayed=False,
            tasks=end.task_ids(claim),
            appended=len(settlement.messages),
        )

    def _as_sent(self, end: FinishRequest, record: ToolCallRecord) -> ToolCallRecord:
        sent = end.outcome
        return record if sent is None else RECORDS.as_given(record, output=sent.output, error=sent.error)

    def _after_commit(self, end: FinishRequest) -> Session | None:
        """A transaction returns no values. What cannot be read now has been written all the same."""
        try:
            return self.access.load(end.caller, end.session_id)
        except SessionNotFoundError:
            return None
        except ThrottledError as error:
            raise OutcomeUnknownError from error
