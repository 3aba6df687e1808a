"""Tool calls that run: begun with a lease, and kept by heartbeats until they are finished (``finish``)."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.claim import ClaimStatus, Step, claim_ttl
from session_store.domain.claim_steps import begun, extended
from session_store.domain.identifiers import check_identifier, check_session_id
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Session, Status, author_of, check_writable
from session_store.domain.tool_call import (
    Claim,
    ToolCallRecord,
    call_hash,
    check_call_id,
    lease_until,
    session_needed_until,
)
from session_store.errors import (
    OutcomeUnknownError,
    SessionClosedError,
    SessionNotFoundError,
    ThrottledError,
)
from session_store.ports import Clock, Ids, ToolCallStorage
from session_store.services.access import SessionAccess
from session_store.services.claim_requests import check_begin, check_lease
from session_store.services.claim_stepping import apply_step
from session_store.services.payload_parts import CLAIMS, RECORDS
from session_store.services.payloads import OUTCOME_ROOM, Payloads
from session_store.services.tool_calls.replay import check_input, read_settled_claim, read_settled_record


class NewCall(Struct, frozen=True, kw_only=True):
    """``attempt_id``: a name by which the attempt can repeat its begin. ``lease_seconds``: 1 to 3600."""

    tool_call_id: str
    tool_name: str
    input: JsonValue
    attempt_id: str | None = None
    lease_seconds: int = 60
    retry_safe: bool = False

    @property
    def input_hash(self) -> str:
        return call_hash(self.tool_name, self.input)

    def check_repeats(self, claim: Claim) -> None:
        """As ``CallRequest.check_repeats``."""
        check_input(claim, input_hash=self.input_hash)


class BeginResult(Struct, frozen=True, kw_only=True):
    """``record``: of a call that is settled, which must not be run; else None."""

    claim: Claim
    record: ToolCallRecord | None


class RunningCalls(Struct, frozen=True, kw_only=True):
    storage: ToolCallStorage
    access: SessionAccess
    payloads: Payloads
    clock: Clock
    ids: Ids

    def begin(self, caller: Caller, session_id: str, new: NewCall) -> BeginResult:
        """Claim the call for an attempt; where it is settled already, return its outcome.

        A settled call is answered even after its session has ended. The same attempt gets its fence
        again. The session is kept alive for at least a minute after the lease.

        Raises:
            InProgressError: another attempt holds the lease.
            UnreconciledError: the lease of an attempt expired, and its outcome is unknown.
            IdempotencyMismatchError: the id was used with another tool or input.
            InvalidRequestError, PayloadTooLargeError, SessionClosedError, SessionNotFoundError
        """
        self._check(new)
        try:
            session = self.access.load_writable(caller, session_id)
        except (SessionClosedError, SessionNotFoundError) as error:
            claim = read_settled_claim(self.storage, caller, session_id, new, ended=error)
            return self._result(claim, new, home=self.payloads.home.region)
        now_ms = self.clock.now_ms()
        (fresh,) = CLAIMS.store(self.payloads, [self._claim(caller, session, new, now_ms)])

        def judge(stored: Claim | None) -> Step[Claim]:
            return begun(fresh, stored, now_ms=now_ms)

        claim = apply_step(judge, self.storage.put, None).claim
        session = self._extend_session(caller, session, claim)
        result = self._result(claim, new, home=session.home_region)
        self.access.slide_quietly(caller, session)
        return result

    def _extend_session(self, caller: Caller, session: Session, claim: Claim) -> Session:
        """Keep the session alive past the lease of the claim.

        Raises:
            OutcomeUnknownError: the claim is written, but the session may end before its lease.
            SessionClosedError, SessionNotFoundError: it has ended since it was read.
        """
        try:
            session = self.access.extend_until(
                caller, session, until=session_needed_until(claim.lease_until_ms)
            )
        except ThrottledError as error:
            raise OutcomeUnknownError from error
        return check_writable(session)

    def _check(self, new: NewCall) -> None:
        check_call_id(new.tool_call_id)
        check_identifier(new.tool_name, path="$.toolName")
        size = self.payloads.check(new.input, path="$.input")
        self.payloads.check_size(size, path="$.input", limit=self.payloads.limit - OUTCOME_ROOM)
        check_begin(attempt_id=new.attempt_id, lease_seconds=new.lease_seconds)

    def _claim(self, caller: Caller, session: Session, new: NewCall, now_ms: int) -> Claim:
        until = lease_until(now_ms, lease_seconds=new.lease_seconds, max_expires_at=session.max_expires_at)
        return Claim(
            session_id=session.session_id,
            tool_call_id=new.tool_call_id,
            tool_name=new.tool_name,
            input=new.input,
            owner=session.owner,
            status=ClaimStatus.IN_PROGRESS,
            input_hash=new.input_hash,
            started_at=now_ms,
            attempt_id=new.attempt_id or self.ids.operation_id(),
            fence=now_ms,
            lease_until_ms=until,
            retry_safe=new.retry_safe,
            ttl=claim_ttl(lease_until_ms=until, at_least=session.max_expires_at),
            author=author_of(caller),
        )

    def _result(self, claim: Claim, new: NewCall, *, home: str) -> BeginResult:
        """The result of a begin. The input equals the request's, so it is not loaded."""
        if not claim.is_settled:
            return BeginResult(claim=CLAIMS.with_given(claim, input=new.input), record=None)
        stored = RECORDS.with_given(read_settled_record(self.storage, claim), input=new.input)
        (record,) = RECORDS.load(self.payloads, [stored], home=home)
        return BeginResult(claim=claim, record=record)

    def heartbeat(
        self, caller: Caller, session_id: str, tool_call_id: str, *, fence: int, lease_seconds: int
    ) -> Claim:
        """Extend the lease to ``lease_seconds`` from now; a longer one is kept. The claim has no input.

        This works while the session is closing or closed, too.

        Raises:
            FencedError: another attempt has taken over, or the call is settled.
            NotFoundError: there is no such call.
            InvalidRequestError, MisdirectedError, SessionNotFoundError
        """
        check_call_id(tool_call_id)
        check_lease(lease_seconds)
        snapshot = self.storage.read_call(check_session_id(session_id), tool_call_id)
        session = self.access.authorize_at_home(caller, snapshot.session)
        now_ms = self.clock.now_ms()
        # The expiration of a closed session is fixed.
        ends = session.ttl if session.status is Status.CLOSED else session.max_expires_at
        until = lease_until(now_ms, lease_seconds=lease_seconds, max_expires_at=ends)
        author = author_of(caller)

        def judge(stored: Claim | None) -> Step[Claim]:
            ttl = claim_ttl(lease_until_ms=until)
            return extended(stored, fence=fence, lease_until_ms=until, ttl=ttl, author=author, now_ms=now_ms)

        first = judge(snapshot.claim)
        session = self.access.extend_until(
            caller, session, until=session_needed_until(first.claim.lease_until_ms)
        )
        claim = apply_step(judge, self.storage.put, snapshot.claim).claim
        self.access.slide_quietly(caller, session)
        return replace(claim, input=None)
