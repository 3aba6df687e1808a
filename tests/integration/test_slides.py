"""A call that succeeded stays a success, whatever becomes of its slide."""

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.page import PageRequest
from session_store.domain.state_operations import StateOperations
from session_store.errors import OutcomeUnknownError, StoreError, ThrottledError
from session_store.ports import Storage
from session_store.services.context import NewMessage
from session_store.settings import Settings
from session_store.store import Store, store_on
from tests.support.faults import lose_every_answer, refuse, throttled
from tests.support.samples import ALICE, NOW_MS, kept
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

DUE_MS = NOW_MS + 400_000
Fault = Callable[["DynamoDBClient"], object]
PAGE: PageRequest[Any] = PageRequest(limit=10)


def throttle(dynamodb: "DynamoDBClient") -> None:
    refuse(dynamodb, "UpdateItem", [throttled()] * 3)


def lose(dynamodb: "DynamoDBClient") -> None:
    lose_every_answer(dynamodb, "UpdateItem")


FAULTS = pytest.mark.parametrize(
    ("fault", "error"), [(throttle, ThrottledError), (lose, OutcomeUnknownError)]
)
USES: dict[str, Callable[[Store, str], object]] = {
    "increment": lambda store, session_id: store.sessions.change_state(
        ALICE, session_id, StateOperations(increment={"n": 1})
    ),
    "append": lambda store, session_id: store.context.append(ALICE, session_id, [NewMessage(content="a")]),
    "get": lambda store, session_id: store.sessions.get(ALICE, session_id),
    "page": lambda store, session_id: store.context.page(ALICE, session_id, PAGE),
    "history": lambda store, session_id: store.tool_calls.history(ALICE, session_id, PAGE),
}


@pytest.fixture
def store(on_dynamodb: Storage, tables: Settings) -> Store:
    return store_on(on_dynamodb, tables, clock=SettableClock(DUE_MS))


@FAULTS
@pytest.mark.parametrize("use", USES)
def test_a_call_whose_slide_fails_is_a_success(
    store: Store,
    on_dynamodb: Storage,
    dynamodb: "DynamoDBClient",
    *,
    use: str,
    fault: Fault,
    error: type[StoreError],
) -> None:
    session = kept(on_dynamodb, state={"n": 0})
    assert session.slide_due(DUE_MS)
    fault(dynamodb)
    USES[use](store, session.session_id)
    after = on_dynamodb.sessions.read(session.session_id)
    assert after is not None
    assert after.state == {"n": 1 if use == "increment" else 0}
    assert (after.ttl == session.ttl) == (error is ThrottledError)


def test_a_state_write_whose_slide_is_throttled_is_a_success(
    store: Store, on_dynamodb: Storage, dynamodb: "DynamoDBClient"
) -> None:
    session = kept(on_dynamodb)
    refused = refuse(dynamodb, "UpdateItem", [None, *[throttled()] * 3])
    after = store.sessions.change_state(ALICE, session.session_id, StateOperations(set={"n": 1}))
    assert refused.total() == 3
    assert (after.state, after.version, after.ttl) == ({"n": 1}, 2, session.ttl)
    assert on_dynamodb.sessions.read(session.session_id) == after


@FAULTS
def test_a_touch_whose_slide_fails_fails(
    store: Store, on_dynamodb: Storage, dynamodb: "DynamoDBClient", fault: Fault, error: type[StoreError]
) -> None:
    session = kept(on_dynamodb)
    fault(dynamodb)
    with pytest.raises(error):
        store.sessions.touch(ALICE, session.session_id)


def test_a_slide_is_not_sent_again_once_its_session_has_ended(
    dynamodb: "DynamoDBClient", tables: Settings
) -> None:
    """Its condition still has the time at which it was built, so it would revive the session."""
    passing = itertools.count(step=10)
    storage = dynamodb_storage(tables, dynamodb, Deadline(monotonic=lambda: next(passing)))
    store = store_on(storage, tables, clock=SettableClock(DUE_MS))
    session = kept(storage, ttl=DUE_MS // 1000 + 15)
    refused = refuse(dynamodb, "UpdateItem", [throttled()])
    with pytest.raises(ThrottledError):
        store.sessions.touch(ALICE, session.session_id)
    assert refused.total() == 1
    after = storage.sessions.read(session.session_id)
    assert after == session
