"""The end of a tool call put together: all that its transaction writes."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.claim import SETTLED, ClaimGuard, Step
from session_store.domain.message import Message
from session_store.domain.payload import payload_size
from session_store.domain.session import ANY_STATUS, WRITABLE, Session, Status, author_of, writable
from session_store.domain.session_write import (
    Advance,
    Guard,
    SessionWrite,
    closed_until,
    violation,
)
from session_store.domain.settlement import CallSnapshot, Settlement, settlement_token
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.schema import session_pk
from session_store.services.audit_events import AuditEvents
from session_store.services.context import Context, check_times, refuse_conflicts
from session_store.services.payload_parts import MESSAGES, RECORDS
from session_store.services.payloads import Payloads
from session_store.services.tasks.new_tasks import build_followers
from session_store.services.tool_calls.requests import (
    CallOutcome,
    FinishOperation,
    FinishRequest,
    task_origin,
)

EVENTS: Final = {
    FinishOperation.COMPLETE: "ToolCallCompleted",
    FinishOperation.FAIL: "ToolCallFailed",
    FinishOperation.RECONCILE: "ToolCallReconciled",
}


class CallTransactionBuilder(Struct, frozen=True, kw_only=True):
    context: Context
    events: AuditEvents
    region: str

    @property
    def payloads(self) -> Payloads:
        return self.context.payloads

    def build(
        self,
        end: FinishRequest,
        snapshot: CallSnapshot,
        session: Session,
        step: Step[Claim],
        *,
        now_ms: int,
        again: bool = False,
    ) -> Settlement:
        """What ``end`` writes on what was seen; ``step`` is the claim's, and has something to write.

        ``again``: another transaction was sent for this end, whose token may be taken for ten minutes.

        Raises:
            StoreError: the session, as it was read, does not take what goes with the call.
        """
        held, guard = _of_step(snapshot, step)
        messages = self._messages(end, snapshot, session, now_ms)
        own = settlement_token(held, fence=held.fence, operation=end.operation, outcome_hash=end.outcome_hash)
        token = self.events.ids.operation_id() if again else own
        pk = session_pk(session.session_id)
        event = self.events.of(end.caller, EVENTS[end.operation], pk=pk, at=now_ms)
        facts = {"toolCallId": held.tool_call_id, "fence": held.fence, "status": step.claim.status}
        is_open = step.claim.status not in SETTLED
        outcome = end.outcome
        record = None if outcome is None else self._record(end, outcome, held, step.claim, now_ms)
        write = self._write(end, session, token, now_ms)
        condition = self._condition(end, session, now_ms) if write is None else None
        if record is not None:
            (record,) = RECORDS.stored(self.payloads, [replace(record, ttl=session.max_expires_at)])
        return Settlement(
            claim=step.claim if is_open else replace(step.claim, input=None),
            guard=guard,
            record=record,
            event=replace(event, operation_id=token, facts=facts),
            token=token,
            write=write,
            condition=condition,
            messages=MESSAGES.stored(self.payloads, messages),
            tasks=build_followers(
                end.caller,
                end.change.tasks,
                origin=task_origin(held),
                session_id=session.session_id,
                region=self.region,
                now_ms=now_ms,
            ),
        )

    def _messages(
        self, end: FinishRequest, snapshot: CallSnapshot, session: Session, now_ms: int
    ) -> list[Message]:
        """Those that are not there yet, with the same content."""
        given = end.change.messages
        if not given:
            return []
        built = self.context.built(end.caller, writable(session), given, now_ms=now_ms)
        refuse_conflicts(built, snapshot.messages)
        check_times(built, given, snapshot.messages, now_ms=now_ms)
        return [message for message in built if message.message_id not in snapshot.messages]

    def _write(self, end: FinishRequest, session: Session, token: str, now_ms: int) -> SessionWrite | None:
        """None where the session stays as it is."""
        change = end.change
        to = None if change.to == session.status else change.to
        if change.operations is None and to is None:
            return None
        ends = min(closed_until(now_ms), session.max_expires_at) if to is Status.CLOSED else None
        advance = Advance(operations=change.operations, to=to, ends=ends)
        guard = Guard(
            now_ms=now_ms,
            owner=session.owner,
            region=self.region,
            statuses=advance.statuses & WRITABLE if change.messages else advance.statuses,
            version=change.expected_version,
        )
        error = violation(session, guard, advance)
        if error is not None:
            raise error
        return SessionWrite(
            session_id=session.session_id,
            guard=guard,
            change=advance,
            operation_id=token,
            author=author_of(end.caller),
        )

    def _condition(self, end: FinishRequest, session: Session, now_ms: int) -> Guard | None:
        """Of a session that stays as it is, at the version that is expected of it."""
        if end.change.expected_version is None:
            return None
        guard = Guard(
            now_ms=now_ms,
            owner=session.owner,
            region=self.region,
            statuses=WRITABLE if end.change.messages else ANY_STATUS,
            version=end.change.expected_version,
        )
        error = violation(session, guard)
        if error is not None:
            raise error
        return guard

    def _record(
        self, end: FinishRequest, outcome: CallOutcome, held: Claim, after: Claim, now_ms: int
    ) -> ToolCallRecord:
        """Of the time when the first attempt began, so that a retry makes the same key.

        When this attempt began, its fence tells; one that nobody holds any more ended with its lease at the
        latest.
        """
        size = sum(map(payload_size, (held.input, outcome.output, outcome.error)))
        self.payloads.check_size(size, path="$")
        forsaken = end.operation is FinishOperation.RECONCILE
        lasted = max(0, (min(now_ms, held.lease_until_ms) if forsaken else now_ms) - held.fence)
        return ToolCallRecord(
            session_id=held.session_id,
            tool_call_id=held.tool_call_id,
            tool_name=held.tool_name,
            status=outcome.status,
            input=held.input,
            output=outcome.output,
            error=outcome.error,
            started_at=held.started_at,
            completed_at=max(now_ms, held.started_at),
            duration_ms=lasted if outcome.duration_ms is None else outcome.duration_ms,
            fence=after.fence,
            ttl=after.ttl,
            author=after.author,
        )


def _of_step(snapshot: CallSnapshot, step: Step[Claim]) -> tuple[Claim, ClaimGuard]:
    if snapshot.claim is None or step.guard is None:
        message = "a step without a claim to write"
        raise AssertionError(message)
    return snapshot.claim, step.guard
