"""Sessions in DynamoDB."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.audit_event import AuditEvent
from session_store.domain.expiry_mark import ExpiryMark
from session_store.domain.page import ExpiringPosition, OwnedPosition, Page, PageRequest
from session_store.domain.session import ExpiringSession, Owner, Session, SessionSummary, Status
from session_store.domain.session_write import (
    Guard,
    SessionWrite,
    Transition,
    already_done,
    closed_session_ttl,
    violation,
)
from session_store.domain.slide import Slide
from session_store.domain.state_operations import StateOperations
from session_store.errors import OutcomeUnknownError, SessionNotFoundError, ThrottledError
from session_store.schema import Attribute
from session_store.storage.dynamodb.audit_items import audit_event_item
from session_store.storage.dynamodb.client import (
    Client,
    ConditionFailedError,
    SumOutOfRangeError,
    TransactionRefusedError,
)
from session_store.storage.dynamodb.expressions import (
    Terms,
    Update,
    all_of,
    holds,
    is_absent,
    may_mark,
    may_slide,
    unconditional_put,
)
from session_store.storage.dynamodb.ownership import author_attribute
from session_store.storage.dynamodb.session_items import metadata_key, session_from, session_item
from session_store.storage.dynamodb.session_lists import SessionLists
from session_store.storage.dynamodb.session_updates import (
    condition_of,
    done_or_refused,
    refusal,
    refused_sum,
    refused_transaction,
    session_or_none,
    transacted_update,
    update_of,
)

A: Final = Attribute


class SessionTable(Struct, frozen=True, kw_only=True):
    """``shards`` is how many partitions one status has in the status/ttl index."""

    client: Client
    audit_table: str
    shards: int

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
            stored = session_or_none(failed.item)
            if stored is None or stored.last_write != session.last_write:
                raise

    def read(self, session_id: str) -> Session | None:
        return session_or_none(self.client.get(metadata_key(session_id)))

    def write(self, write: SessionWrite) -> Session:
        if isinstance(write.change, StateOperations) and not write.change.repeats_harmlessly:
            return self._transacted(write)
        closed_ttl = closed_session_ttl(write.guard.now_ms) if _closes(write) else None
        try:
            return self._updated(write, closed_ttl)
        except ConditionFailedError as failed:
            stored, answer_lost = session_or_none(failed.item), failed.answer_lost
        if stored is not None and closed_ttl is not None and _ends_sooner(stored, write, closed_ttl):
            return self._closed_at_its_maximum(write, stored.max_expires_at)
        return done_or_refused(stored, write, answer_lost=answer_lost)

    def _updated(self, write: SessionWrite, closed_ttl: int | None) -> Session:
        terms = Terms()
        update = update_of(terms, write)
        condition = condition_of(terms, write, update)
        if closed_ttl is not None:
            update.set(A.TTL, closed_ttl)
            condition = all_of(condition, f"{terms.name(A.MAX_EXPIRES_AT)} >= {terms.value(closed_ttl)}")
        return session_from(
            self.client.update(
                metadata_key(write.session_id),
                UpdateExpression=update.expression(),
                ConditionExpression=condition,
                **terms.arguments(),
            )
        )

    def _closed_at_its_maximum(self, write: SessionWrite, closed_ttl: int) -> Session:
        """Close a session whose longest life ends before the closed retention; only its item shows that."""
        try:
            return self._updated(write, closed_ttl)
        except ConditionFailedError as failed:
            return done_or_refused(session_or_none(failed.item), write, answer_lost=failed.answer_lost)

    def _transacted(self, write: SessionWrite) -> Session:
        """Increments and appends, which must not happen twice: the token makes a retry the same request."""
        item = transacted_update(write, table=self.client.table)
        try:
            self.client.transact([item], token=write.operation_id)
        except TransactionRefusedError as refused:
            stored = session_or_none(refused.held[0])
            if stored is not None and already_done(stored, write):
                return stored
            lost = refused.answer_lost
            raise refused_transaction(stored, write.guard, write.change, answer_lost=lost) from refused
        except SumOutOfRangeError as error:
            raise refused_sum(self.client, write) from error
        return self._after_commit(write.session_id)

    def _after_commit(self, session_id: str) -> Session:
        """Read the session after a transaction, which returns none; a failed read does not undo the write."""
        try:
            after = self.read(session_id)
        except ThrottledError as error:
            raise OutcomeUnknownError from error
        if after is None:
            raise SessionNotFoundError
        return after

    def slide(self, slide: Slide) -> Session | None:
        client = self.client
        while_alive = replace(client, attempts=replace(client.attempts, retry_within=slide.seconds_left))
        terms = Terms()
        update = Update(terms)
        update.set(A.TTL, slide.window.ttl)
        update.set(A.SLIDE_AFTER, slide.window.slide_after)
        update.set(A.UPDATED_BY, author_attribute(slide.author))
        update.set(A.WRITE_REGION, slide.guard.region)
        try:
            return session_from(
                while_alive.update(
                    metadata_key(slide.session_id),
                    UpdateExpression=update.expression(),
                    ConditionExpression=may_slide(terms, slide),
                    **terms.arguments(),
                )
            )
        except ConditionFailedError as failed:
            return session_or_none(failed.item)

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
        entry = unconditional_put(audit_event_item(event), table=self.audit_table)
        try:
            self.client.transact([removal, entry], token=event.operation_id)
        except TransactionRefusedError as refused:
            raise refusal(session_or_none(refused.held.get(0)), guard) from refused

    def page_owned(
        self, owner: Owner, *, status: Status | None, now_ms: int, page: PageRequest[OwnedPosition]
    ) -> Page[SessionSummary, OwnedPosition]:
        return self._lists.page_owned(owner, status=status, now_ms=now_ms, page=page)

    def page_expiring(
        self, status: Status, *, now_ms: int, until: int, page: PageRequest[ExpiringPosition]
    ) -> Page[ExpiringSession, ExpiringPosition]:
        return self._lists.page_expiring(status, now_ms=now_ms, until=until, page=page)

    def count_living(self, status: Status, *, region: str, now_ms: int) -> Iterator[int]:
        return self._lists.count_living(status, region=region, now_ms=now_ms)

    @property
    def _lists(self) -> SessionLists:
        return SessionLists(client=self.client, shards=self.shards)


def _closes(write: SessionWrite) -> bool:
    return isinstance(write.change, Transition) and write.change.to is Status.CLOSED


def _ends_sooner(stored: Session, write: SessionWrite, closed_ttl: int) -> bool:
    return stored.max_expires_at < closed_ttl and violation(stored, write.guard) is None
