"""The transaction that settles a tool call."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.claim import ClaimGuard, Step
from session_store.domain.message import Message
from session_store.domain.payload import payload_size
from session_store.domain.session import ANY_STATUS, WRITABLE, Session, Status, author_of, check_writable
from session_store.domain.session_write import (
    Advance,
    Guard,
    SessionWrite,
    closed_session_ttl,
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
    """Builds the ``Settlement`` that a finish or a reconciliation writes."""

    context: Context
    events: AuditEvents
    region: str

    @property
    def payloads(self) -> Payloads:
        return self.context.payloads

    def build(
        self,
        request: FinishRequest,
        snapshot: CallSnapshot,
        session: Session,
        step: Step[Claim],
        *,
        now_ms: int,
        resent: bool = False,
    ) -> Settlement:
        """Build the transaction for what was read. ``step``: the claim's, which is not a replay.

        ``resent``: a transaction was sent for this request before, and its token may be in use for ten
        minutes.

        Raises:
            StoreError: the session, as it was read, does not admit the change, or the deadline of a task
                has passed.
        """
        held, guard = _claim_and_guard(snapshot, step)
        messages = self._new_messages(request, snapshot, session, now_ms)
        tasks = build_followers(
            request.caller,
            request.change.tasks,
            origin=task_origin(held),
            session_id=session.session_id,
            region=self.region,
            now_ms=now_ms,
            at="$.tasks",
        )
        derived = settlement_token(
            held, fence=held.fence, operation=request.operation, outcome_hash=request.outcome_hash
        )
        token = self.events.ids.operation_id() if resent else derived
        pk = session_pk(session.session_id)
        event = self.events.of(request.caller, EVENTS[request.operation], pk=pk, at=now_ms)
        facts = {"toolCallId": held.tool_call_id, "fence": held.fence, "status": step.claim.status}
        is_open = not step.claim.is_settled
        outcome = request.outcome
        record = None if outcome is None else self._record(request, outcome, held, step.claim, now_ms)
        write = self._session_write(request, session, token, now_ms)
        condition = self._session_condition(request, session, now_ms) if write is None else None
        if record is not None:
            (record,) = RECORDS.store(self.payloads, [replace(record, ttl=session.max_expires_at)])
        return Settlement(
            claim=step.claim if is_open else replace(step.claim, input=None),
            guard=guard,
            record=record,
            event=replace(event, operation_id=token, facts=facts),
            token=token,
            write=write,
            condition=condition,
            messages=MESSAGES.store(self.payloads, messages),
            tasks=tasks,
        )

    def _new_messages(
        self, request: FinishRequest, snapshot: CallSnapshot, session: Session, now_ms: int
    ) -> list[Message]:
        """The messages of the request that do not exist yet.

        Raises:
            ContentConflictError, InvalidRequestError, SessionClosedError
        """
        requested = request.change.messages
        if not requested:
            return []
        messages = self.context.build(request.caller, check_writable(session), requested, now_ms=now_ms)
        refuse_conflicts(messages, snapshot.messages)
        check_times(messages, requested, snapshot.messages, now_ms=now_ms)
        return [message for message in messages if message.message_id not in snapshot.messages]

    def _session_write(
        self, request: FinishRequest, session: Session, token: str, now_ms: int
    ) -> SessionWrite | None:
        """The change of the session; None where there is none.

        Raises:
            StoreError: the session, as it was read, does not admit it.
        """
        change = request.change
        to = None if change.to == session.status else change.to
        if change.operations is None and to is None:
            return None
        ends = min(closed_session_ttl(now_ms), session.max_expires_at) if to is Status.CLOSED else None
        advance = Advance(operations=change.operations, to=to, ttl=ends)
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
            author=author_of(request.caller),
        )

    def _session_condition(self, request: FinishRequest, session: Session, now_ms: int) -> Guard | None:
        """The condition on a session that does not change, where a version of it is expected.

        Raises:
            StoreError: the session, as it was read, does not meet it.
        """
        if request.change.expected_version is None:
            return None
        guard = Guard(
            now_ms=now_ms,
            owner=session.owner,
            region=self.region,
            statuses=WRITABLE if request.change.messages else ANY_STATUS,
            version=request.change.expected_version,
        )
        error = violation(session, guard)
        if error is not None:
            raise error
        return guard

    def _record(
        self, request: FinishRequest, outcome: CallOutcome, held: Claim, after: Claim, now_ms: int
    ) -> ToolCallRecord:
        """Build the record. Its key has the first attempt's start, so that all attempts write the same one.

        The fence is the time when this attempt began. A reconciled attempt lasted until its lease expired,
        at most.
        """
        parts = {"$.output": outcome.output, "$.error": outcome.error}
        self.payloads.check_together(parts, beside=payload_size(held.input))
        reconciled = request.operation is FinishOperation.RECONCILE
        ended_at = min(now_ms, held.lease_until_ms) if reconciled else now_ms
        duration_ms = max(0, ended_at - held.fence)
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
            duration_ms=duration_ms if outcome.duration_ms is None else outcome.duration_ms,
            fence=after.fence,
            ttl=after.ttl,
            author=after.author,
        )


def _claim_and_guard(snapshot: CallSnapshot, step: Step[Claim]) -> tuple[Claim, ClaimGuard]:
    if snapshot.claim is None or step.guard is None:
        message = "a step that writes no claim"
        raise AssertionError(message)
    return snapshot.claim, step.guard
