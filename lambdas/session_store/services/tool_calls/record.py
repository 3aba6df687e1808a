"""Tool calls that were run elsewhere, recorded whole: begin and completion in one transaction."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.audit_event import AuditEvent
from session_store.domain.caller import Caller
from session_store.domain.claim import ClaimStatus, claim_ttl
from session_store.domain.claim_steps import begun
from session_store.domain.fingerprints import fingerprint, present_members
from session_store.domain.identifiers import check_identifier
from session_store.domain.json_values import JsonValue
from session_store.domain.message import CLOCK_TOLERANCE_MS
from session_store.domain.session import Author, Session, author_of
from session_store.domain.settlement import Settlement
from session_store.domain.times import iso
from session_store.domain.tool_call import Claim, ToolCallRecord, call_hash, check_call_id, check_duration
from session_store.errors import (
    IdempotencyMismatchError,
    InvalidRequestError,
    SessionClosedError,
    SessionNotFoundError,
    ThrottledError,
)
from session_store.ports import Clock, ToolCallStorage
from session_store.schema import session_pk
from session_store.services.access import SessionAccess
from session_store.services.audit_events import AuditEvents
from session_store.services.claim_stepping import MAX_CONFLICT_ATTEMPTS
from session_store.services.payload_parts import RECORDS
from session_store.services.payloads import Payloads
from session_store.services.tool_calls.replay import check_input, read_settled_claim, read_settled_record


class RecordedCall(Struct, frozen=True, kw_only=True):
    """A call that has been run. ``started_at`` in milliseconds. It failed if ``error`` is not None."""

    tool_call_id: str
    tool_name: str
    input: JsonValue
    output: JsonValue
    error: JsonValue
    duration_ms: int
    started_at: int | None

    @property
    def input_hash(self) -> str:
        return call_hash(self.tool_name, self.input)

    @property
    def outcome_hash(self) -> str:
        started = None if self.started_at is None else iso(self.started_at)
        return fingerprint(
            "recorded-outcome",
            present_members(
                {"durationMs": self.duration_ms},
                {
                    "output": (self.output, None),
                    "error": (self.error, None),
                    "startedAt": (started, None),
                },
            ),
        )

    def check_repeats(self, claim: Claim) -> None:
        """As ``CallRequest.check_repeats``: same input and same outcome."""
        check_input(claim, input_hash=self.input_hash)
        if claim.outcome_hash != self.outcome_hash:
            raise IdempotencyMismatchError("The call id was used before with another outcome.")


class RecordResult(Struct, frozen=True, kw_only=True):
    record: ToolCallRecord
    replayed: bool


class RecordedCalls(Struct, frozen=True, kw_only=True):
    storage: ToolCallStorage
    access: SessionAccess
    payloads: Payloads
    clock: Clock
    events: AuditEvents

    def record(self, caller: Caller, session_id: str, call: RecordedCall) -> RecordResult:
        """Write claim, record and audit event of a finished call in one transaction, once per call id.

        The same call again is a replay and succeeds, even after the session was closed or has expired.

        Raises:
            IdempotencyMismatchError: the id was used with another input or outcome.
            InvalidRequestError, PayloadTooLargeError, SessionClosedError, SessionNotFoundError
        """
        self._check(call)
        try:
            session = self.access.load_writable(caller, session_id)
        except (SessionClosedError, SessionNotFoundError) as error:
            claim = read_settled_claim(self.storage, caller, session_id, call, ended=error)
            return self._replayed(claim, call)
        now_ms = self.clock.now_ms()
        _check_start(call, now_ms)
        event = self.events.of(caller, "ToolCallRecorded", pk=session_pk(session_id), at=now_ms)
        claim, record = _build(session, call, author_of(caller), now_ms, event.operation_id)
        (record,) = RECORDS.store(self.payloads, [record])
        result = self._settle(claim, record, event, call, now_ms)
        self.access.slide_quietly(caller, session)
        return result

    def _settle(
        self, claim: Claim, record: ToolCallRecord, event: AuditEvent, call: RecordedCall, now_ms: int
    ) -> RecordResult:
        """Begin and complete in one transaction; after a conflict, again over the stored claim."""
        stored: Claim | None = None
        for _ in range(MAX_CONFLICT_ATTEMPTS):
            step = begun(claim, stored, now_ms=now_ms)
            if step.guard is None:
                call.check_repeats(step.claim)
                return self._replayed(step.claim, call)
            started_at = step.claim.started_at
            settled_record = replace(
                record,
                started_at=started_at,
                completed_at=max(started_at, record.completed_at),
                fence=step.claim.fence,
            )
            token = event.operation_id if stored is None else self.events.ids.operation_id()
            settlement = Settlement(
                claim=step.claim, guard=step.guard, record=settled_record, event=event, token=token
            )
            if self.storage.settle(settlement):
                return RecordResult(record=_as_sent(settled_record, call), replayed=False)
            stored = self.storage.read_call(claim.session_id, claim.tool_call_id).claim
        raise ThrottledError

    def _replayed(self, claim: Claim, call: RecordedCall) -> RecordResult:
        return RecordResult(record=_as_sent(read_settled_record(self.storage, claim), call), replayed=True)

    def _check(self, call: RecordedCall) -> None:
        check_call_id(call.tool_call_id)
        check_identifier(call.tool_name, path="$.toolName")
        check_duration(call.duration_ms)
        parts = {f"$.{name}": getattr(call, name) for name in RECORDS.names}
        for path, value in parts.items():
            self.payloads.check(value, path=path)
        if call.output is not None and call.error is not None:
            raise InvalidRequestError("A call has an output or an error, not both", path="$.error")
        self.payloads.check_together(parts)


def _build(
    session: Session, call: RecordedCall, author: Author, now_ms: int, attempt_id: str
) -> tuple[Claim, ToolCallRecord]:
    started_at = now_ms - call.duration_ms if call.started_at is None else call.started_at
    status = ClaimStatus.COMPLETED if call.error is None else ClaimStatus.FAILED
    claim = Claim(
        session_id=session.session_id,
        tool_call_id=call.tool_call_id,
        owner=session.owner,
        tool_name=call.tool_name,
        status=status,
        input_hash=call.input_hash,
        outcome_hash=call.outcome_hash,
        started_at=started_at,
        attempt_id=attempt_id,
        retry_safe=False,
        fence=now_ms,
        lease_until_ms=now_ms,
        ttl=claim_ttl(at_least=session.max_expires_at, lease_until_ms=now_ms),
        author=author,
    )
    record = ToolCallRecord(
        session_id=session.session_id,
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        status=status,
        input=call.input,
        output=call.output,
        error=call.error,
        started_at=started_at,
        completed_at=started_at + call.duration_ms,
        duration_ms=call.duration_ms,
        fence=now_ms,
        ttl=session.max_expires_at,
        author=author,
    )
    return claim, record


def _check_start(call: RecordedCall, now_ms: int) -> None:
    """Check the start: one far in the future would stay at the end of the history.

    Raises:
        InvalidRequestError: before 1970, or more than the clock tolerance ahead.
    """
    if call.started_at is None:
        return
    if type(call.started_at) is not int or not 0 <= call.started_at <= now_ms + CLOCK_TOLERANCE_MS:
        detail = f"Must lie between 1970 and {CLOCK_TOLERANCE_MS // 1000} s from now"
        raise InvalidRequestError(detail, path="$.startedAt")


def _as_sent(record: ToolCallRecord, call: RecordedCall) -> ToolCallRecord:
    """The record with the payloads of the request, which need not be loaded."""
    return RECORDS.with_given(record, input=call.input, output=call.output, error=call.error)
