"""What is answered where nobody can tell whether a write happened, and where that is known after all."""

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from session_store.domain.session import Status
from session_store.domain.session_write import Change, ReplaceState, Transition, apply_write
from session_store.domain.state_operations import StateOperations
from session_store.errors import (
    OutcomeUnknownError,
    SessionClosedError,
    StoreError,
    ThrottledError,
    VersionConflictError,
)
from session_store.ports import Storage
from tests.support.faults import (
    lose_every_answer,
    lose_first_answer,
    refuse,
    running,
    throttled,
)
from tests.support.samples import a_key_claim, a_write, kept

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

EACH_WAY = pytest.mark.parametrize(
    ("operation", "change"),
    [
        ("UpdateItem", StateOperations(set={"n": 2})),
        ("UpdateItem", ReplaceState(state={"n": 2})),
        ("TransactWriteItems", StateOperations(increment={"n": 1})),
    ],
)
OTHER = StateOperations(set={"other": True})


@EACH_WAY
def test_an_answer_that_never_comes_is_an_unknown_outcome(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient", operation: str, change: Change
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    write = a_write(session, change)
    lose_every_answer(dynamodb, operation)
    with pytest.raises(OutcomeUnknownError):
        on_dynamodb.sessions.write(write)
    assert on_dynamodb.sessions.read(session.session_id) == apply_write(session, write)


@EACH_WAY
def test_an_answer_lost_and_throttling_to_the_end_is_an_unknown_outcome(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient", operation: str, change: Change
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    write = a_write(session, change)
    refused = refuse(dynamodb, operation, [None, throttled(), throttled()])
    with lose_first_answer(dynamodb, operation), pytest.raises(OutcomeUnknownError):
        on_dynamodb.sessions.write(write)
    assert refused.total() == 2
    assert on_dynamodb.sessions.read(session.session_id) == apply_write(session, write)


@EACH_WAY
def test_throttling_to_the_end_is_a_busy_store_and_nothing_is_done(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient", operation: str, change: Change
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    refused = refuse(dynamodb, operation, [throttled()] * 3)
    with pytest.raises(ThrottledError):
        on_dynamodb.sessions.write(a_write(session, change))
    assert refused.total() == 3
    assert on_dynamodb.sessions.read(session.session_id) == session


def test_a_transaction_in_progress_to_the_end_is_an_unknown_outcome(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    refused = refuse(dynamodb, "TransactWriteItems", [running()] * 9)
    with pytest.raises(OutcomeUnknownError):
        on_dynamodb.sessions.write(a_write(session, StateOperations(increment={"n": 1})))
    assert refused.total() == 9


@pytest.mark.parametrize("change", [StateOperations(set={"n": 2}), ReplaceState(state={"n": 2})])
def test_a_versioned_write_whose_answer_is_lost_under_another_write_is_an_unknown_outcome(
    on_dynamodb: Storage, bystander: Storage, dynamodb: "DynamoDBClient", change: Change
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    write, other = a_write(session, change, version=1), a_write(session, OTHER)
    on_top = lose_first_answer(dynamodb, "UpdateItem", meanwhile=lambda: bystander.sessions.write(other))
    with on_top, pytest.raises(OutcomeUnknownError):
        on_dynamodb.sessions.write(write)
    assert on_dynamodb.sessions.read(session.session_id) == apply_write(apply_write(session, write), other)


def test_a_versioned_write_that_was_throttled_before_another_is_a_conflict(
    on_dynamodb: Storage, bystander: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    newer = bystander.sessions.write(a_write(session, OTHER))
    refuse(dynamodb, "UpdateItem", [throttled()])
    with pytest.raises(VersionConflictError):
        on_dynamodb.sessions.write(a_write(session, ReplaceState(state={}), version=1))
    assert on_dynamodb.sessions.read(session.session_id) == newer


def test_an_increment_whose_answer_is_lost_under_another_write_is_done_once(
    on_dynamodb: Storage, bystander: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    write, other = a_write(session, StateOperations(increment={"n": 1})), a_write(session, OTHER)
    with lose_first_answer(dynamodb, "TransactWriteItems", meanwhile=lambda: bystander.sessions.write(other)):
        after = on_dynamodb.sessions.write(write)
    assert (after.state, after.version) == ({"n": 2, "other": True}, 3)


def test_an_increment_that_cannot_be_read_back_is_an_unknown_outcome(
    on_dynamodb: Storage, bystander: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    write = a_write(session, StateOperations(increment={"n": 1}))
    refused = refuse(dynamodb, "GetItem", [throttled()] * 3)
    with pytest.raises(OutcomeUnknownError):
        on_dynamodb.sessions.write(write)
    assert refused.total() == 3
    assert bystander.sessions.read(session.session_id) == apply_write(session, write)


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize(
    ("meanwhile", "guard", "error"),
    [
        (Transition(to=Status.CLOSING), {}, SessionClosedError),
        (StateOperations(set={"other": True}), {"version": 1}, VersionConflictError),
        (StateOperations(set={"n": "text"}), {}, OutcomeUnknownError),
    ],
)
def test_an_increment_refused_after_an_answer_that_said_nothing_was_not_done(
    on_dynamodb: Storage,
    bystander: Storage,
    dynamodb: "DynamoDBClient",
    *,
    meanwhile: Change,
    guard: dict[str, Any],
    error: type[StoreError],
    keyed: bool,
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    write = a_write(session, StateOperations(increment={"n": 1}), **guard)
    refuse(dynamodb, "TransactWriteItems", [running()])
    newer = bystander.sessions.write(a_write(session, meanwhile))
    claim = a_key_claim(target=session.session_id, operation_id=write.operation_id)
    send = partial(on_dynamodb.keyed_sessions.write, claim=claim) if keyed else on_dynamodb.sessions.write
    with pytest.raises(error):
        send(write)
    assert on_dynamodb.sessions.read(session.session_id) == newer


def test_an_increment_for_a_version_to_come_may_still_be_done(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb, state={"n": 1})
    refuse(dynamodb, "TransactWriteItems", [running()])
    with pytest.raises(OutcomeUnknownError):
        on_dynamodb.sessions.write(a_write(session, StateOperations(increment={"n": 1}), version=2))
