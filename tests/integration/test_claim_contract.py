"""What every storage of claims promises: of tool calls, and of free keys."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.claim import ClaimGuard, ClaimStatus, LeasedClaim
from session_store.domain.free_claim import FreeClaim
from session_store.domain.page import PageRequest
from session_store.domain.session import Session, Status
from session_store.domain.session_write import Advance
from session_store.domain.state_operations import StateOperations
from session_store.domain.tool_call import Claim
from session_store.errors import (
    InvalidTransitionError,
    PayloadTooLargeError,
    SessionClosedError,
    StoreError,
    VersionConflictError,
)
from session_store.ports import Refused, Storage
from session_store.schema import session_pk
from tests.support.samples import (
    NOW_MS,
    NOW_SECONDS,
    a_call,
    a_free_claim,
    a_guard,
    a_message,
    a_running_call,
    a_session,
    a_settlement,
    a_write,
    an_event,
    kept,
)

FREE = ClaimGuard(now_ms=NOW_MS)
HELD = ClaimGuard(now_ms=NOW_MS, fence=NOW_MS)
UNTOUCHED = ClaimGuard(now_ms=NOW_MS, fence=NOW_MS, lease_until_ms=NOW_MS + 60_000)
PAGE: PageRequest[Any] = PageRequest(limit=50)


class ToolClaims:
    """Those of tool calls, in a session of their own."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.first: Claim = a_running_call(a_session())

    def put(self, claim: Any, guard: ClaimGuard) -> Refused[Any] | None:
        return self.storage.tool_calls.put(claim, guard)

    def read(self) -> LeasedClaim | None:
        return self.storage.tool_calls.read_call(self.first.session_id, self.first.tool_call_id).claim


class FreeClaims:
    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.first: FreeClaim = a_free_claim()

    def put(self, claim: Any, guard: ClaimGuard) -> Refused[Any] | None:
        return self.storage.claims.put(claim, guard)

    def read(self) -> LeasedClaim | None:
        return self.storage.claims.read(self.first.key_hash)


Claims = ToolClaims | FreeClaims


@pytest.fixture(params=[ToolClaims, FreeClaims])
def claims(request: pytest.FixtureRequest, storage: Storage) -> Claims:
    kind: Callable[[Storage], Claims] = request.param
    return kind(storage)


def test_a_claim_comes_back_equal(claims: Claims) -> None:
    assert claims.read() is None
    assert claims.put(claims.first, FREE) is None
    assert claims.read() == claims.first


def test_what_is_there_is_told_to_who_is_refused(claims: Claims) -> None:
    assert claims.put(claims.first, HELD) == Refused(held=None)
    claims.put(claims.first, FREE)
    other = replace(claims.first, attempt_id="other")
    assert claims.put(other, FREE) == Refused(held=claims.first)
    assert claims.read() == claims.first


@pytest.mark.parametrize("status", [ClaimStatus.COMPLETED, ClaimStatus.IN_PROGRESS])
def test_a_write_that_finds_its_own_work_is_written(claims: Claims, status: ClaimStatus) -> None:
    claims.put(claims.first, FREE)
    after = replace(claims.first, status=status, lease_until_ms=NOW_MS + 90_000)
    assert claims.put(after, UNTOUCHED) is None
    there = claims.read()
    assert claims.put(after, UNTOUCHED) is None
    assert claims.read() == there


@pytest.mark.parametrize("status", [ClaimStatus.COMPLETED, ClaimStatus.IN_PROGRESS])
def test_an_expired_claim_is_none(claims: Claims, status: ClaimStatus) -> None:
    over = replace(claims.first, status=status, ttl=NOW_SECONDS)
    claims.put(over, FREE)
    assert claims.put(claims.first, HELD) == Refused(held=claims.read())
    assert claims.put(claims.first, FREE) is None


@pytest.mark.parametrize(
    ("there", "guard", "admitted"),
    [
        ({}, HELD, True),
        ({}, UNTOUCHED, True),
        ({"lease_until_ms": NOW_MS + 60_001}, HELD, True),
        ({"lease_until_ms": NOW_MS + 60_001}, UNTOUCHED, False),
        ({"fence": NOW_MS + 1}, HELD, False),
        ({"fence": NOW_MS - 1}, HELD, False),
        ({"status": ClaimStatus.COMPLETED, "outcome_hash": "o"}, HELD, False),
        ({"status": ClaimStatus.FAILED, "outcome_hash": "o"}, UNTOUCHED, False),
    ],
)
def test_who_holds_the_fence_writes(
    claims: Claims, there: dict[str, Any], guard: ClaimGuard, *, admitted: bool
) -> None:
    if isinstance(claims, ToolClaims) and "status" in there:
        there = {**there, "input": None}
    held = replace(claims.first, **there)
    claims.put(held, FREE)
    after = replace(held, lease_until_ms=NOW_MS + 90_000)
    assert (claims.put(after, guard) is None) == admitted
    assert claims.read() == (after if admitted else held)


def test_a_settled_free_claim_has_its_outcome_inside(storage: Storage) -> None:
    claim = a_free_claim(
        status=ClaimStatus.COMPLETED,
        outcome_hash="outcome",
        output=[0, None, ""],
        completed_at=NOW_MS + 1,
        retry_safe=True,
    )
    storage.claims.put(claim, FREE)
    assert storage.claims.read(claim.key_hash) == claim


def test_a_snapshot_has_the_session_the_claim_and_the_messages_that_are_there(storage: Storage) -> None:
    session = kept(storage)
    message = a_message(session)
    claim = a_running_call(session)
    storage.messages.put(message)
    storage.tool_calls.put(claim, FREE)
    absent = a_message(session).message_id
    seen = storage.tool_calls.read_call(session.session_id, "c1", message_ids=[message.message_id, absent])
    assert (seen.session, seen.claim, seen.messages) == (session, claim, {message.message_id: message})
    nothing = storage.tool_calls.read_call(a_session().session_id, "c1")
    assert (nothing.session, nothing.claim, nothing.messages) == (None, None, {})


def test_unsettled_claims_are_told_without_their_inputs(storage: Storage) -> None:
    session = kept(storage)
    for name in ("b", "a", "a#b"):
        storage.tool_calls.put(a_running_call(session, name), FREE)
    storage.tool_calls.settle(a_settlement(*a_call(session, "done"), an_event(session)))
    found = storage.tool_calls.unsettled(session.session_id)
    assert list(found) == [a_running_call(session, name, input=None) for name in ("a", "a#b", "b")]


def test_many_settled_claims_hide_no_open_one(storage: Storage) -> None:
    session = kept(storage)
    for number in range(4):
        claim = a_running_call(session, f"c{number}", input="x" * 350_000)
        storage.tool_calls.put(claim, FREE)
    assert len(storage.tool_calls.unsettled(session.session_id)) == 4


def ending(session: Session, **changes: Any) -> Any:
    """The end of a call that has begun, with all that may go with it."""
    claim, record = a_call(session, "c1")
    advance = Advance(operations=StateOperations(set={"a": 1}, increment={"n": 1}), to=Status.CLOSING)
    values = {
        "guard": HELD,
        "write": a_write(session, advance, statuses=advance.statuses),
        "messages": (a_message(session, "one"), a_message(session, "two")),
    }
    return a_settlement(claim, record, an_event(session), **{**values, **changes})


def test_an_end_writes_everything(storage: Storage) -> None:
    session = kept(storage, state={"n": 1})
    storage.tool_calls.put(a_running_call(session), FREE)
    end = ending(session)
    assert storage.tool_calls.settle(end)
    after = storage.sessions.read(session.session_id)
    assert after is not None
    assert (after.state, after.status, after.version) == ({"n": 2, "a": 1}, Status.CLOSING, 2)
    assert storage.tool_calls.read_call(session.session_id, "c1").claim == end.claim
    assert storage.tool_calls.read_record(end.claim) == end.record
    assert storage.messages.page(session.session_id, PAGE).items == end.messages
    assert [entry.event_name for entry in storage.audit.page(session_pk(session.session_id), PAGE).items] == [
        "SessionDeleted"
    ]


def nothing_is_written(storage: Storage, session: Session) -> None:
    assert storage.sessions.read(session.session_id) == session
    assert storage.tool_calls.page(session.session_id, PAGE).items == ()
    assert storage.audit.page(session_pk(session.session_id), PAGE).items == ()


@pytest.mark.parametrize("there", [None, {"fence": NOW_MS + 1}, {"ttl": NOW_SECONDS}])
def test_an_end_whose_claim_is_another_writes_nothing(storage: Storage, there: dict[str, Any] | None) -> None:
    session = kept(storage, state={"n": 1})
    if there is not None:
        storage.tool_calls.put(a_running_call(session, **there), FREE)
    assert not storage.tool_calls.settle(ending(session))
    nothing_is_written(storage, session)
    assert storage.messages.page(session.session_id, PAGE).items == ()


def test_an_end_whose_message_is_there_writes_nothing(storage: Storage) -> None:
    session = kept(storage, state={"n": 1})
    storage.tool_calls.put(a_running_call(session), FREE)
    message = a_message(session)
    storage.messages.put(message)
    assert not storage.tool_calls.settle(ending(session, messages=(a_message(session), message)))
    nothing_is_written(storage, session)


@pytest.mark.parametrize(
    ("changes", "guard", "error"),
    [
        ({}, {"version": 7}, VersionConflictError),
        ({"status": Status.CLOSED}, {}, SessionClosedError),
        ({"state": {"n": "text"}}, {}, StoreError),
    ],
)
def test_an_end_that_the_session_refuses_writes_nothing(
    storage: Storage, changes: dict[str, Any], guard: dict[str, Any], error: type[StoreError]
) -> None:
    session = kept(storage, **{"state": {"n": 1}, **changes})
    storage.tool_calls.put(a_running_call(session), FREE)
    advance = Advance(operations=StateOperations(increment={"n": 1}), to=None)
    write = a_write(session, advance, **{"statuses": advance.statuses, **guard})
    with pytest.raises(error):
        storage.tool_calls.settle(ending(session, write=write))
    nothing_is_written(storage, session)


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        ({"version": 7}, VersionConflictError),
        ({"version": 1, "statuses": frozenset({Status.CLOSING})}, SessionClosedError),
    ],
)
def test_what_must_hold_of_a_session_that_stays_as_it_is_is_a_condition(
    storage: Storage, condition: dict[str, Any], error: type[StoreError]
) -> None:
    session = kept(storage, state={"n": 1})
    storage.tool_calls.put(a_running_call(session), FREE)
    guard = a_guard(owner=session.owner)
    with pytest.raises(error):
        storage.tool_calls.settle(ending(session, write=None, condition=replace(guard, **condition)))
    nothing_is_written(storage, session)
    assert storage.tool_calls.settle(ending(session, write=None, condition=replace(guard, version=1)))
    assert storage.sessions.read(session.session_id) == session


def test_a_step_that_is_none_is_told_as_such(storage: Storage) -> None:
    session = kept(storage)
    storage.tool_calls.put(a_running_call(session), FREE)
    advance = Advance(operations=None, to=Status.CLOSED, ttl=NOW_SECONDS + 9)
    write = a_write(session, advance, statuses=advance.statuses)
    with pytest.raises(InvalidTransitionError):
        storage.tool_calls.settle(ending(session, write=write))


def test_a_step_that_closes_gives_the_session_its_last_end(storage: Storage) -> None:
    session = kept(storage, status=Status.CLOSING)
    storage.tool_calls.put(a_running_call(session), FREE)
    advance = Advance(operations=None, to=Status.CLOSED, ttl=NOW_SECONDS + 9)
    write = a_write(session, advance, statuses=advance.statuses)
    assert storage.tool_calls.settle(ending(session, write=write))
    after = storage.sessions.read(session.session_id)
    assert after is not None
    assert (after.status, after.ttl) == (Status.CLOSED, NOW_SECONDS + 9)


def test_a_transaction_too_large_is_not_sent(on_dynamodb: Storage) -> None:
    session = kept(on_dynamodb)
    on_dynamodb.tool_calls.put(a_running_call(session), FREE)
    many = tuple(a_message(session) for _ in range(97))
    with pytest.raises(PayloadTooLargeError) as caught:
        on_dynamodb.tool_calls.settle(ending(session, messages=many))
    assert caught.value.facts == {"limit": 100, "size": 101}
    heavy = tuple(a_message(session, "x" * 300_000) for _ in range(14))
    with pytest.raises(PayloadTooLargeError) as caught:
        on_dynamodb.tool_calls.settle(ending(session, messages=heavy))
    assert caught.value.facts["limit"] == 4 * 1024 * 1024
    nothing_is_written(on_dynamodb, session)
