"""Sessions in DynamoDB."""

import heapq
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from session_store.domain.audit_event import AuditEvent
from session_store.domain.page import ExpiringPosition, OwnedPosition, Page, PageRequest, ShardPosition
from session_store.domain.session import (
    Change,
    ExpiringSession,
    Guard,
    Owner,
    ReplaceState,
    Session,
    SessionSummary,
    SessionWrite,
    Slide,
    Status,
    Transition,
    already_done,
    closed_until,
    violation,
)
from session_store.domain.state_operations import StateOperations
from session_store.domain.times import iso, seconds
from session_store.errors import SessionNotFoundError
from session_store.schema import OWNER_INDEX, SESSION_SK, STATUS_TTL_INDEX, Attribute, session_pk
from session_store.storage.client import Client, ConditionFailedError, TransactionRefusedError
from session_store.storage.codec import Item, to_item
from session_store.storage.expressions import (
    Terms,
    Update,
    all_of,
    holds,
    is_absent,
    is_new,
    may_slide,
)
from session_store.storage.items import (
    audit_event_item,
    author_attribute,
    expiring_from,
    metadata_key,
    owned_position_from,
    session_from,
    session_item,
    shard_of,
    summary_from,
)

A: Final = Attribute


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTable:
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
            there = _session(failed.item)
        if there is not None and ends is not None and _ends_sooner(there, write, ends):
            return self._closed_at_its_maximum(write, there.max_expires_at)
        return _done_or_refused(there, write)

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
            return _done_or_refused(_session(failed.item), write)

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
            return _done_or_refused(_session(refused.held[0]), write)
        after = self.read(write.session_id)
        if after is None:
            raise SessionNotFoundError
        return after

    def slide(self, slide: Slide) -> Session | None:
        terms = Terms()
        update = Update(terms)
        update.set(A.TTL, slide.window.ttl)
        update.set(A.SLIDE_AFTER, slide.window.slide_after)
        update.set(A.UPDATED_BY, author_attribute(slide.author))
        update.set(A.WRITE_REGION, slide.region)
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

    def page_owned(
        self, owner: Owner, *, status: Status | None, now_ms: int, page: PageRequest[OwnedPosition]
    ) -> Page[SessionSummary, OwnedPosition]:
        terms = Terms()
        arguments: dict[str, Any] = {
            "IndexName": OWNER_INDEX.name,
            "KeyConditionExpression": all_of(
                f"{terms.name(A.TENANT)} = {terms.value(owner.tenant)}",
                f"{terms.name(A.SUBJECT)} = {terms.value(owner.subject)}",
            ),
            "FilterExpression": f"{terms.name(A.TTL)} > {terms.value(seconds(now_ms))}",
            "ScanIndexForward": not page.descending,
            "Limit": page.limit,
        }
        if status is not None:
            wanted = f"{terms.name(A.STATUS)} = {terms.value(status)}"
            arguments["FilterExpression"] = all_of(arguments["FilterExpression"], wanted)
        if page.after is not None:
            arguments["ExclusiveStartKey"] = _owned_key(owner, page.after)
        items, last = self.client.query(**arguments, **terms.arguments())
        after = None if last is None else owned_position_from(last)
        return Page(items=tuple(summary_from(item) for item in items), next=after)

    def page_expiring(
        self, status: Status, *, now_ms: int, until: int, page: PageRequest[ExpiringPosition]
    ) -> Page[ExpiringSession, ExpiringPosition]:
        consumed = dict(page.after.shards) if page.after is not None else {}

        def read(shard: int) -> tuple[list[ExpiringSession], bool]:
            return self._shard(
                shard,
                status=status,
                between=(seconds(now_ms) + 1, until),
                limit=page.limit,
                after=consumed.get(shard),
            )

        with ThreadPoolExecutor(self.shards) as pool:
            shards = list(pool.map(read, range(self.shards)))
        merged = list(heapq.merge(*(sessions for sessions, _ in shards), key=lambda session: session.ttl))
        items = tuple(merged[: page.limit])
        for session in items:
            position = ShardPosition(ttl=session.ttl, session_id=session.session_id)
            consumed[shard_of(session.session_id, self.shards)] = position
        more = len(merged) > page.limit or any(goes_on for _, goes_on in shards)
        return Page(items=items, next=ExpiringPosition(shards=consumed) if more else None)

    def _shard(
        self,
        shard: int,
        *,
        status: Status,
        between: tuple[int, int],
        limit: int,
        after: ShardPosition | None,
    ) -> tuple[list[ExpiringSession], bool]:
        """The next sessions of one shard, in the index's own order, and whether there are more."""
        earliest, latest = between
        terms = Terms()
        keys = all_of(
            f"{terms.name(A.STATUS)} = {terms.value(status)}",
            f"{terms.name(A.SHARD)} = {terms.value(shard)}",
            f"{terms.name(A.TTL)} BETWEEN {terms.value(earliest)} AND {terms.value(latest)}",
        )
        arguments: dict[str, Any] = {
            "IndexName": STATUS_TTL_INDEX.name,
            "KeyConditionExpression": keys,
            "Limit": limit,
        }
        if after is not None and after.ttl >= earliest:
            arguments["ExclusiveStartKey"] = to_item(
                {
                    A.STATUS: status,
                    A.SHARD: shard,
                    A.TTL: after.ttl,
                    A.PK: session_pk(after.session_id),
                    A.SK: SESSION_SK,
                }
            )
        items, last = self.client.query(**arguments, **terms.arguments())
        return [expiring_from(item) for item in items], last is not None


def _session(item: Item | None) -> Session | None:
    return None if item is None else session_from(item)


def _closes(write: SessionWrite) -> bool:
    return isinstance(write.change, Transition) and write.change.to is Status.CLOSED


def _ends_sooner(there: Session, write: SessionWrite, ends: int) -> bool:
    return there.max_expires_at < ends and violation(there, write.guard) is None


def _done_or_refused(there: Session | None, write: SessionWrite) -> Session:
    """The session where the refused write finds its own work, else the error of the clause that failed."""
    if there is not None and already_done(there, write):
        return there
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


def _owned_key(owner: Owner, position: OwnedPosition) -> Item:
    return to_item(
        {
            A.TENANT: owner.tenant,
            A.SUBJECT: owner.subject,
            A.CREATED_AT: iso(position.created_at),
            A.PK: session_pk(position.session_id),
            A.SK: SESSION_SK,
        }
    )
