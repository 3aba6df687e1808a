"""Sessions in DynamoDB."""

from dataclasses import dataclass
from typing import Final

from session_store.domain.audit_event import AuditEvent
from session_store.domain.expiry_mark import ExpiryMark
from session_store.domain.session import Session, Status
from session_store.domain.session_write import (
    Change,
    Guard,
    ReplaceState,
    SessionWrite,
    Transition,
    already_done,
    closed_until,
    violation,
)
from session_store.domain.slide import Slide
from session_store.domain.state_operations import StateOperations
from session_store.domain.times import iso
from session_store.errors import OutcomeUnknownError, SessionNotFoundError, ThrottledError
from session_store.schema import Attribute
from session_store.storage.audit_items import audit_event_item
from session_store.storage.client import ConditionFailedError, TransactionRefusedError
from session_store.storage.codec import Item
from session_store.storage.expressions import (
    Terms,
    Update,
    all_of,
    holds,
    is_absent,
    is_new,
    may_mark,
    may_slide,
)
from session_store.storage.ownership import author_attribute
from session_store.storage.session_items import metadata_key, session_from, session_item
from session_store.storage.session_lists import SessionLists

A: Final = Attribute


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTable(SessionLists):
    audit_table: str

    def create(self, session: Session) -> None:
        terms = Terms()
        condition = is_absent(terms)
        try:
            self.client.put(
                session_item(session, shards=self.shards),
                ConditionExpression=condition,
                **terms.arguments(),
            )
        except ConditionFailedError as failed:
            there = _session(failed.item)
            if there is None or there.last_write != session.last_write:
                raise

    def read(self, session_id: str) -> Session | None:
        return _session(self.client.get(metadata_key(session_id)))

    def write(self, write: SessionWrite) -> Session:
        if isinstance(write.change, StateOperations) and not write.change.repeats_harmlessly:
            return self._transacted(write)
        ends = closed_until(write.guard.now_ms) if _closes(write) else None
        try:
            return self._updated(write, ends)
        except ConditionFailedError as failed:
            there, answer_lost = _session(failed.item), failed.answer_lost
        if there is not None and ends is not None and _ends_sooner(there, write, ends):
            return self._closed_at_its_maximum(write, there.max_expires_at)
        return _done_or_refused(there, write, answer_lost=answer_lost)

    def _updated(self, write: SessionWrite, ends: int | None) -> Session:
        terms = Terms()
        update = _update(terms, write)
        condition = _condition(terms, write, update)
        if ends is not None:
            update.set(A.TTL, ends)
            condition = all_of(condition, f"{terms.name(A.MAX_EXPIRES_AT)} >= {terms.value(ends)}")
        return session_from(
            self.client.update(
                metadata_key(write.session_id),
                UpdateExpression=update.expression(),
                ConditionExpression=condition,
                **terms.arguments(),
            )
        )

    def _closed_at_its_maximum(self, write: SessionWrite, ends: int) -> Session:
        """Close a session whose longest life ends before the retention would: known only from its item."""
        try:
            return self._updated(write, ends)
        except ConditionFailedError as failed:
            return _done_or_refused(_session(failed.item), write, answer_lost=failed.answer_lost)

    def _transacted(self, write: SessionWrite) -> Session:
        """Increments and appends, which must not happen twice: by its token a resent request is the same."""
        terms = Terms()
        update = _update(terms, write)
        item = {
            "Update": {
                "TableName": self.client.table,
                "Key": metadata_key(write.session_id),
                "UpdateExpression": update.expression(),
                "ConditionExpression": _condition(terms, write, update),
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                **terms.arguments(),
            }
        }
        try:
            self.client.transact([item], token=write.operation_id)
        except TransactionRefusedError as refused:
            return _done_or_refused(_session(refused.held[0]), write, answer_lost=refused.answer_lost)
        return self._after_commit(write.session_id)

    def _after_commit(self, session_id: str) -> Session:
        """A transaction returns no values. What cannot be read now has been written all the same."""
        try:
            after = self.read(session_id)
        except ThrottledError as error:
            raise OutcomeUnknownError from error
        if after is None:
            raise SessionNotFoundError
        return after

    def slide(self, slide: Slide) -> Session | None:
        terms = Terms()
        update = Update(terms)
        update.set(A.TTL, slide.window.ttl)
        update.set(A.SLIDE_AFTER, slide.window.slide_after)
        update.set(A.UPDATED_BY, author_attribute(slide.author))
        update.set(A.WRITE_REGION, slide.guard.region)
        try:
            return session_from(
                self.client.update(
                    metadata_key(slide.session_id),
                    UpdateExpression=update.expression(),
                    ConditionExpression=may_slide(terms, slide),
                    **terms.arguments(),
                )
            )
        except ConditionFailedError as failed:
            return _session(failed.item)

    def mark_warned(self, mark: ExpiryMark) -> bool:
        terms = Terms()
        update = Update(terms)
        update.set(A.WARNED_TTL, mark.ttl)
        update.set(A.UPDATED_BY, author_attribute(mark.author))
        update.set(A.WRITE_REGION, mark.region)
        try:
            self.client.update(
                metadata_key(mark.session_id),
                UpdateExpression=update.expression(),
                ConditionExpression=may_mark(terms, mark),
                **terms.arguments(),
            )
        except ConditionFailedError:
            return False
        return True

    def delete(self, session_id: str, guard: Guard, event: AuditEvent) -> None:
        terms = Terms()
        removal = {
            "Delete": {
                "TableName": self.client.table,
                "Key": metadata_key(session_id),
                "ConditionExpression": holds(terms, guard),
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                **terms.arguments(),
            }
        }
        entry = {"Put": {"TableName": self.audit_table, "Item": audit_event_item(event)}}
        try:
            self.client.transact([removal, entry], token=event.operation_id)
        except TransactionRefusedError as refused:
            raise _refusal(_session(refused.held.get(0)), guard) from refused


def _session(item: Item | None) -> Session | None:
    return None if item is None else session_from(item)


def _closes(write: SessionWrite) -> bool:
    return isinstance(write.change, Transition) and write.change.to is Status.CLOSED


def _ends_sooner(there: Session, write: SessionWrite, ends: int) -> bool:
    return there.max_expires_at < ends and violation(there, write.guard) is None


def _done_or_refused(there: Session | None, write: SessionWrite, *, answer_lost: bool) -> Session:
    """The session where the refused write finds its own work, else the error of the clause that failed.

    Where an answer was lost and another write lies on top, nobody can tell any more.
    """
    if there is not None and already_done(there, write):
        return there
    if there is not None and answer_lost:
        raise OutcomeUnknownError
    raise _refusal(there, write.guard, write.change)


def _refusal(there: Session | None, guard: Guard, change: Change | None = None) -> Exception:
    return violation(there, guard, change) or AssertionError("a refused item fulfils the condition")


def _condition(terms: Terms, write: SessionWrite, update: Update) -> str:
    return all_of(holds(terms, write.guard), is_new(terms, write.operation_id), *update.clauses)


def _update(terms: Terms, write: SessionWrite) -> Update:
    update = Update(terms)
    update.add_one(A.VERSION)
    update.set(A.UPDATED_AT, iso(write.guard.now_ms))
    update.set(A.UPDATED_BY, author_attribute(write.author))
    update.set(A.WRITE_REGION, write.guard.region)
    update.set(A.LAST_WRITE, write.operation_id)
    match write.change:
        case ReplaceState(state=state):
            update.set(A.STATE, state)
        case StateOperations():
            update.operate(write.change)
        case Transition(to=to):
            update.set(A.STATUS, to)
    return update
