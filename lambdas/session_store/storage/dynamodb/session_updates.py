"""A session write as update and condition expressions, and the meaning of its refusal."""

from typing import Any, Final

from session_store.domain.session import Session
from session_store.domain.session_write import (
    Advance,
    Change,
    Guard,
    ReplaceState,
    SessionWrite,
    Transition,
    already_done,
    overflow,
    violation,
)
from session_store.domain.state_operations import StateOperations
from session_store.domain.times import iso
from session_store.errors import (
    OutcomeUnknownError,
    SessionClosedError,
    SessionNotFoundError,
    VersionConflictError,
)
from session_store.schema import Attribute
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.codec import Item
from session_store.storage.dynamodb.expressions import Terms, Update, all_of, holds, is_new
from session_store.storage.dynamodb.ownership import author_attribute
from session_store.storage.dynamodb.session_items import metadata_key, session_from

A: Final = Attribute


def update_of(terms: Terms, write: SessionWrite) -> Update:
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
        case Advance(operations=operations, to=step, ttl=ttl):
            if operations:
                update.operate(operations)
            if step:
                update.set(A.STATUS, step)
            if ttl:
                update.set(A.TTL, ttl)
    return update


def condition_of(terms: Terms, write: SessionWrite, update: Update) -> str:
    return all_of(holds(terms, write.guard), is_new(terms, write.operation_id), *update.clauses)


def transacted_update(write: SessionWrite, *, table: str) -> dict[str, Any]:
    """The write as an item of a transaction."""
    terms = Terms()
    update = update_of(terms, write)
    return {
        "Update": {
            "TableName": table,
            "Key": metadata_key(write.session_id),
            "UpdateExpression": update.expression(),
            "ConditionExpression": condition_of(terms, write, update),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            **terms.arguments(),
        }
    }


def transacted_check(session_id: str, guard: Guard, *, table: str) -> dict[str, Any]:
    """The condition on a session that a transaction does not change."""
    terms = Terms()
    return {
        "ConditionCheck": {
            "TableName": table,
            "Key": metadata_key(session_id),
            "ConditionExpression": holds(terms, guard),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            **terms.arguments(),
        }
    }


def session_or_none(item: Item | None) -> Session | None:
    return None if item is None else session_from(item)


def done_or_refused(stored: Session | None, write: SessionWrite, *, answer_lost: bool) -> Session:
    """The session, if the refused write was done before; otherwise raise the error of the clause that failed.

    Raises:
        OutcomeUnknownError: a response was lost, and another write came on top.
        StoreError: the clause that failed.
    """
    if stored is not None and already_done(stored, write):
        return stored
    if stored is not None and answer_lost:
        raise OutcomeUnknownError
    raise refusal(stored, write.guard, write.change)


def refused_transaction(
    stored: Session | None, guard: Guard, change: Change | None = None, *, answer_lost: bool
) -> Exception:
    """The error of a refused transaction, even if a response to an earlier attempt was lost.

    Its token makes DynamoDB answer a retry of a transaction that was done as done. So a refused one was not
    done, and if the refusal is permanent it never will be: an attempt still in flight is refused as well. If
    the refusal may pass, the outcome is unknown.
    """
    error = refusal(stored, guard, change)
    return OutcomeUnknownError() if answer_lost and not _is_permanent(error, guard) else error


def _is_permanent(error: Exception, guard: Guard) -> bool:
    """Whether a refusal is permanent: ids are never reused, statuses and versions only move forward."""
    if isinstance(error, VersionConflictError):
        current: Any = error.facts["currentVersion"]
        return guard.version is not None and current > guard.version
    return isinstance(error, SessionNotFoundError | SessionClosedError)


def refused_sum(client: Client, write: SessionWrite | None) -> Exception:
    """The error of a sum that DynamoDB refused. It returns no item with this refusal, so the session is read.

    Raises:
        ThrottledError: it could not be read; nothing was written.
    """
    if write is None:
        return AssertionError("a sum is out of range where nothing is added")
    session = session_or_none(client.get(metadata_key(write.session_id)))
    return overflow({} if session is None else session.state, write.change)


def refusal(stored: Session | None, guard: Guard, change: Change | None = None) -> Exception:
    return violation(stored, guard, change) or AssertionError("a refused item satisfies the condition")
