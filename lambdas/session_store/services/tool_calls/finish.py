"""Tool calls that end: finished by their attempt, or reconciled after its lease expired."""

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
    """``record`` is None where the call may be begun again, ``session`` where it has ended.

    ``tasks``: ids of the tasks that were created with the outcome. ``appended``: how many messages this
    request added.
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
        """Settle the call with its outcome, completed or failed.

        One transaction writes claim, record, audit event and what the call changes in its session. The same
        request again is a replay and succeeds, whatever has become of the session. A call that changes
        nothing in its session can also finish while the session is closing or closed.

        Raises:
            FencedError: another attempt has taken over.
            IdempotencyMismatchError: the call is settled with another outcome.
            UnexpectedVersionError, InvalidTransitionError, SessionClosedError, ContentConflictError:
                nothing was written.
            NotFoundError, SessionNotFoundError, MisdirectedError, InvalidRequestError, PayloadTooLargeError
        """
        operation = (
            FinishOperation.COMPLETE if outcome.status is ClaimStatus.COMPLETED else FinishOperation.FAIL
        )
        return self._settle(
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
        """Settle a call whose lease has expired, or (``outcome`` None) allow another attempt.

        ``fence``: of the attempt that was investigated; None for the current one.

        Raises:
            InProgressError: the lease is running.
            FencedError: another attempt has begun since.
            IdempotencyMismatchError: the call is settled with another outcome.
            NotFoundError, SessionNotFoundError, MisdirectedError, InvalidRequestError, PayloadTooLargeError
        """
        return self._settle(
            FinishRequest(
                caller=caller,
                session_id=session_id,
                tool_call_id=tool_call_id,
                operation=FinishOperation.RECONCILE,
                outcome=outcome,
                fence=fence,
            )
        )

    def _settle(self, request: FinishRequest) -> FinishResult:
        """Judge what is stored and write; after a conflict, judge again."""
        check_finish(request, self.transactions.context)
        for retry in range(MAX_CONFLICT_ATTEMPTS):
            snapshot = self.storage.read_call(
                request.session_id, request.tool_call_id, message_ids=request.message_ids
            )
            claim = snapshot.claim
            if claim is not None and request.is_repeated(claim):
                return self._replayed(request, claim, snapshot.session)
            session = self.access.authorize_at_home(request.caller, snapshot.session)
            now_ms = self.clock.now_ms()
            step = request.step(claim, now_ms=now_ms)
            (whole,) = CLAIMS.load(self.transactions.payloads, [step.claim], home=session.home_region)
            if step.guard is None:
                return FinishResult(claim=whole, record=None, session=session, replayed=True)
            try:
                settlement = self.transactions.build(
                    request, snapshot, session, step, now_ms=now_ms, resent=retry > 0
                )
                if self.storage.settle(settlement):
                    return self._settled(request, settlement, session, whole)
            except VersionConflictError as error:
                raise UnexpectedVersionError(current_version=error.current_version) from error
        raise ThrottledError

    def _replayed(self, request: FinishRequest, claim: Claim, stored: Session | None) -> FinishResult:
        """The result of the first request; the session may have ended since."""
        record = self._as_sent(request, read_settled_record(self.storage, claim))
        home = self.transactions.payloads.home.region if stored is None else stored.home_region
        (whole,) = RECORDS.load(self.transactions.payloads, [record], home=home)
        try:
            session = self.access.authorize_at_home(request.caller, stored)
            session = self.access.slide_quietly(request.caller, session)
        except SessionNotFoundError:
            session = None
        tasks = request.task_ids(claim)
        return FinishResult(claim=claim, record=whole, session=session, replayed=True, tasks=tasks)

    def _settled(
        self, request: FinishRequest, settlement: Settlement, session: Session, whole: Claim
    ) -> FinishResult:
        after = session if settlement.write is None else self._load_committed(request)
        if after is not None:
            after = self.access.slide_quietly(request.caller, after)
        record = settlement.record
        if record is not None:
            record = RECORDS.with_given(self._as_sent(request, record), input=whole.input)
        claim = replace(settlement.claim, input=whole.input)
        return FinishResult(
            claim=claim,
            record=record,
            session=after,
            replayed=False,
            tasks=request.task_ids(claim),
            appended=len(settlement.messages),
        )

    @staticmethod
    def _as_sent(request: FinishRequest, record: ToolCallRecord) -> ToolCallRecord:
        """The record with the output and error of the request, which need not be loaded."""
        sent = request.outcome
        return record if sent is None else RECORDS.with_given(record, output=sent.output, error=sent.error)

    def _load_committed(self, request: FinishRequest) -> Session | None:
        """Read the session after its change, since a transaction returns no values. None if it has ended.

        Raises:
            OutcomeUnknownError: it could not be read, but was written.
        """
        try:
            return self.access.load(request.caller, request.session_id)
        except SessionNotFoundError:
            return None
        except ThrottledError as error:
            raise OutcomeUnknownError from error
