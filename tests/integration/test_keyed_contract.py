"""What every KeyedSessionStorage promises."""

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.claim import ClaimStatus
from session_store.domain.idempotency_key import KeyClaim, key_hash
from session_store.domain.session import ANY_STATUS, Session, Status, owner_of
from session_store.domain.session_write import SessionWrite, apply_write
from session_store.domain.state_operations import StateOperations
from session_store.errors import (
    InvalidRequestError,
    MisdirectedError,
    PayloadTooLargeError,
    SessionClosedError,
    SessionNotFoundError,
    StoreError,
    VersionConflictError,
)
from session_store.ports import Storage
from tests.support.samples import (
    DAY,
    NOW_MS,
    NOW_SECONDS,
    STRANGER,
    a_guard,
    a_key_claim,
    a_session,
    a_write,
    an_event,
    kept,
    operation_id,
)

ADD = StateOperations(set={"s": 1}, increment={"n": Decimal("0.1")}, append={"l": [1]})


def claim_of(write: SessionWrite, **changes: Any) -> KeyClaim:
    return a_key_claim(target=write.session_id, operation_id=write.operation_id, **changes)


def test_a_session_and_its_claim_are_kept_together(storage: Storage) -> None:
    session = a_session(state={"tenth": Decimal("0.1")})
    claim = a_key_claim(target=session.session_id, operation_id=session.last_write)
    assert storage.keyed_sessions.create(session, claim) is None
    assert storage.sessions.read(session.session_id) == session
    other = a_session()
    again = replace(claim, target=other.session_id, operation_id=other.last_write, input_hash="other")
    assert storage.keyed_sessions.create(other, again) == claim
    assert storage.sessions.read(other.session_id) is None


def test_a_write_and_its_claim_are_kept_together(storage: Storage) -> None:
    session = kept(storage, state={"n": 1})
    write = a_write(session, ADD, version=1)
    claim = claim_of(write)
    assert storage.keyed_sessions.write(write, claim) is None
    after = apply_write(session, write)
    assert storage.sessions.read(session.session_id) == after
    second = a_write(session, ADD)
    assert storage.keyed_sessions.write(second, claim_of(second, key_hash=claim.key_hash)) == claim
    assert storage.sessions.read(session.session_id) == after


def test_the_very_same_operation_again_is_done_and_not_done_twice(storage: Storage) -> None:
    session = a_session(state={"n": 1})
    created = a_key_claim(target=session.session_id, operation_id=session.last_write)
    write = a_write(session, ADD)
    claim = claim_of(write)
    for _ in range(2):
        assert storage.keyed_sessions.create(session, created) is None
    for _ in range(2):
        assert storage.keyed_sessions.write(write, claim) is None
    assert storage.sessions.read(session.session_id) == apply_write(session, write)


def test_a_claim_is_judged_before_the_session(storage: Storage) -> None:
    session = kept(storage, state={"n": 1})
    write = a_write(session, ADD, version=1)
    claim = claim_of(write)
    storage.keyed_sessions.write(write, claim)
    again = a_write(session, ADD, version=1)
    assert storage.keyed_sessions.write(again, claim_of(again, key_hash=claim.key_hash)) == claim
    storage.sessions.delete(session.session_id, a_guard(statuses=ANY_STATUS), an_event(session))
    assert storage.keyed_sessions.write(again, claim_of(again, key_hash=claim.key_hash)) == claim
    assert storage.sessions.read(session.session_id) is None


@pytest.mark.parametrize(
    ("changes", "guard", "error"),
    [
        ({"ttl": NOW_SECONDS}, {}, SessionNotFoundError),
        ({}, {"owner": owner_of(STRANGER)}, SessionNotFoundError),
        ({"home_region": "eu-west-1"}, {}, MisdirectedError),
        ({"status": Status.CLOSED}, {}, SessionClosedError),
        ({}, {"version": 2}, VersionConflictError),
        ({"state": {"l": 1}}, {}, InvalidRequestError),
        ({"state": {"big": "x" * 350_000}}, {}, PayloadTooLargeError),
    ],
)
def test_a_refused_write_leaves_its_key_free(
    storage: Storage, changes: dict[str, Any], guard: dict[str, Any], error: type[StoreError]
) -> None:
    session = kept(storage, **changes)
    large = "y" * (60_000 if error is PayloadTooLargeError else 1)
    operations = StateOperations(set={"more": large}, append={"l": [1]})
    write = a_write(session, operations, **guard)
    claim = claim_of(write)
    with pytest.raises(error):
        storage.keyed_sessions.write(write, claim)
    assert storage.sessions.read(session.session_id) == session
    taker = a_session()
    free = replace(claim, target=taker.session_id, operation_id=taker.last_write)
    assert storage.keyed_sessions.create(taker, free) is None


@pytest.mark.parametrize(("seconds", "known"), [(-1, True), (0, False), (1, False)])
def test_a_claim_is_known_until_it_ends(storage: Storage, seconds: int, *, known: bool) -> None:
    first, second = a_session(), a_session()
    claim = a_key_claim(target=first.session_id, operation_id=first.last_write, ttl=NOW_SECONDS + DAY)
    storage.keyed_sessions.create(first, claim)
    later = replace(
        claim,
        target=second.session_id,
        operation_id=second.last_write,
        started_at=NOW_MS + (DAY + seconds) * 1000,
        ttl=NOW_SECONDS + 3 * DAY,
    )
    assert storage.keyed_sessions.create(second, later) == (claim if known else None)
    assert storage.sessions.read(second.session_id) == (None if known else second)


def test_a_claim_comes_back_as_it_was_kept(storage: Storage) -> None:
    session: Session = a_session()
    claim = a_key_claim(
        target=session.session_id,
        operation_id=session.last_write,
        status=ClaimStatus.FAILED,
        key_hash=key_hash(session.owner, route="r", key=operation_id()),
        started_at=NOW_MS + 1,
    )
    storage.keyed_sessions.create(session, claim)
    other = a_session()
    assert storage.keyed_sessions.create(other, replace(claim, operation_id=other.last_write)) == claim
