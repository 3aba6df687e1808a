"""Answers that are lost, and writes that meet: nothing acts twice, nothing is lost in silence."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from session_store.domain.session import ANY_STATUS, Status
from session_store.domain.session_write import PREDECESSORS, ReplaceState, Transition, apply_write
from session_store.domain.state_operations import StateOperations
from session_store.errors import (
    SessionNotFoundError,
    ThrottledError,
    VersionConflictError,
)
from session_store.ports import Storage
from tests.support.faults import (
    cancelled,
    conflict,
    lose_first_answer,
    refuse,
)
from tests.support.samples import (
    NOW_SECONDS,
    a_guard,
    a_key_claim,
    a_write,
    an_event,
    kept,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


@pytest.mark.parametrize(
    ("operation", "operations"),
    [
        ("UpdateItem", StateOperations(set={"k": 1}, remove=["n"])),
        ("TransactWriteItems", StateOperations(increment={"n": 1}, append={"l": [1]})),
    ],
)
@pytest.mark.parametrize("version", [None, 1])
def test_a_state_write_whose_answer_is_lost_is_done_once(
    on_dynamodb: Storage,
    dynamodb: "DynamoDBClient",
    operation: str,
    operations: StateOperations,
    version: int | None,
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    write = a_write(session, operations, version=version)
    with lose_first_answer(dynamodb, operation):
        after = on_dynamodb.sessions.write(write)
    assert after == apply_write(session, write)
    assert on_dynamodb.sessions.read(session.session_id) == after


def test_an_increment_whose_answer_is_lost_twice_is_done_once(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    write = a_write(session, StateOperations(increment={"n": 1}))
    with lose_first_answer(dynamodb, "TransactWriteItems", times=2):
        after = on_dynamodb.sessions.write(write)
    assert after == apply_write(session, write)


def test_closing_a_short_session_whose_answer_is_lost_is_done_once(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb, status=Status.CLOSING, max_expires_at=NOW_SECONDS + 7200)
    write = a_write(session, Transition(to=Status.CLOSED), statuses=PREDECESSORS[Status.CLOSED])
    with lose_first_answer(dynamodb, "UpdateItem"):
        closed = on_dynamodb.sessions.write(write)
    assert (closed.status, closed.version, closed.ttl) == (Status.CLOSED, 2, session.max_expires_at)


@pytest.mark.parametrize("change", [StateOperations(set={"n": 2}), StateOperations(increment={"n": 1})])
@pytest.mark.parametrize("times", [1, 2])
def test_a_keyed_write_whose_answer_is_lost_is_done_once(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient", change: StateOperations, times: int
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    write = a_write(session, change, version=1)
    claim = a_key_claim(target=session.session_id, operation_id=write.operation_id)
    with lose_first_answer(dynamodb, "TransactWriteItems", times=times):
        assert on_dynamodb.keyed_sessions.write(write, claim) is None
    assert on_dynamodb.sessions.read(session.session_id) == apply_write(session, write)


def test_a_keyed_write_that_meets_its_twin_is_answered_by_the_twins_claim(
    on_dynamodb: Storage, bystander: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb)
    twin, write = (a_write(session, StateOperations(set={"n": 2}), version=1) for _ in range(2))
    claim = a_key_claim(target=session.session_id, operation_id=twin.operation_id)
    bystander.keyed_sessions.write(twin, claim)
    met = cancelled("TransactionConflict", "ConditionalCheckFailed")
    refused = refuse(dynamodb, "TransactWriteItems", [met, met])
    held = on_dynamodb.keyed_sessions.write(write, replace(claim, operation_id=write.operation_id))
    assert (held, refused.total()) == (claim, 2)


def test_a_keyed_write_that_meets_its_twin_to_the_end_is_a_busy_store(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb)
    write = a_write(session, StateOperations(set={"n": 2}))
    claim = a_key_claim(target=session.session_id, operation_id=write.operation_id)
    refuse(dynamodb, "TransactWriteItems", [cancelled("TransactionConflict", "ConditionalCheckFailed")] * 9)
    with pytest.raises(ThrottledError):
        on_dynamodb.keyed_sessions.write(write, claim)
    assert on_dynamodb.sessions.read(session.session_id) == session


@pytest.mark.parametrize(
    ("operation", "change", "met"),
    [
        ("UpdateItem", StateOperations(set={"n": 2}), conflict),
        ("TransactWriteItems", StateOperations(increment={"n": 1}), lambda: cancelled("TransactionConflict")),
    ],
)
def test_writes_that_meet_are_tried_again_and_done_once(
    on_dynamodb: Storage,
    dynamodb: "DynamoDBClient",
    operation: str,
    change: StateOperations,
    met: Callable[[], dict[str, object]],
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    refused = refuse(dynamodb, operation, [met() for _ in range(3)])
    after = on_dynamodb.sessions.write(a_write(session, change))
    assert refused.total() == 3
    assert (after.state, after.version) == ({"n": 2}, 2)


def test_a_transaction_cancelled_for_throttling_is_refused_and_not_done(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    refuse(dynamodb, "TransactWriteItems", [cancelled("ThrottlingError") for _ in range(9)])
    with pytest.raises(ThrottledError):
        on_dynamodb.sessions.write(a_write(session, StateOperations(increment={"n": 1})))
    assert on_dynamodb.sessions.read(session.session_id) == session


def test_a_late_resend_of_a_versioned_write_changes_nothing(on_dynamodb: Storage) -> None:
    session = kept(on_dynamodb)
    late = a_write(session, ReplaceState(state={"by": "first"}), version=1)
    on_dynamodb.sessions.write(late)
    newer = on_dynamodb.sessions.write(a_write(session, ReplaceState(state={"by": "second"}), version=2))
    with pytest.raises(VersionConflictError):
        on_dynamodb.sessions.write(late)
    assert on_dynamodb.sessions.read(session.session_id) == newer


def test_a_late_resend_never_brings_a_deleted_session_back(on_dynamodb: Storage) -> None:
    session = kept(on_dynamodb)
    write = a_write(session, StateOperations(set={"k": 1}))
    on_dynamodb.sessions.write(write)
    on_dynamodb.sessions.delete(session.session_id, a_guard(statuses=ANY_STATUS), an_event(session))
    with pytest.raises(SessionNotFoundError):
        on_dynamodb.sessions.write(write)
    assert on_dynamodb.sessions.read(session.session_id) is None
