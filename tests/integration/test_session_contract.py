"""What every SessionStorage promises."""

from decimal import Decimal
from typing import Any

import pytest

from session_store.domain.session import ANY_STATUS, Owner, Status, owner_of
from session_store.domain.session_write import (
    CLOSED_RETENTION,
    PREDECESSORS,
    Change,
    ReplaceState,
    Transition,
    apply_write,
)
from session_store.domain.state_operations import StateOperations
from session_store.errors import (
    InvalidRequestError,
    InvalidTransitionError,
    MisdirectedError,
    PayloadTooLargeError,
    SessionClosedError,
    SessionNotFoundError,
    StoreError,
    VersionConflictError,
)
from session_store.ports import Storage
from tests.support.samples import (
    HOUR,
    NOW_MS,
    NOW_SECONDS,
    OWNER,
    STRANGER,
    a_guard,
    a_session,
    a_slide,
    a_write,
    an_event,
    kept,
)

CHANGES: list[Change] = [
    ReplaceState(state={"only": [1, {"deep": None}]}),
    StateOperations(set={"a.b": 1, "ünï": "ß", "size": True}, remove=["gone", "kept", "status"]),
    StateOperations(increment={"n": Decimal("0.1"), "new": 5}, append={"list": [2, 3], "fresh": [[]]}),
    StateOperations(set={"x": {}}, remove=["gone"], increment={"n": -1}, append={"list": []}),
    Transition(to=Status.CLOSING),
]
STATE = {"n": Decimal("1.2"), "list": [1], "gone": "x", "status": "mine", "ttl": 5}


def test_a_created_session_is_read_back_equal(storage: Storage) -> None:
    session = kept(
        storage,
        state={"exact": 9007199254740993, "tenth": Decimal("0.1"), "none": None, "empty": ["", {}, []]},
        protocol={"clientInfo": {"name": "c"}},
        credential_refs=("secret/a",),
    )
    assert storage.sessions.read(session.session_id) == session


def test_creating_the_same_session_again_is_the_same_session(storage: Storage) -> None:
    session = kept(storage)
    storage.sessions.create(session)
    assert storage.sessions.read(session.session_id) == session


def test_an_absent_session_reads_as_none(storage: Storage) -> None:
    assert storage.sessions.read(a_session().session_id) is None


@pytest.mark.parametrize("change", CHANGES)
def test_a_write_makes_of_a_session_what_the_domain_says(storage: Storage, change: Change) -> None:
    session = kept(storage, state=STATE)
    write = a_write(session, change, now_ms=NOW_MS + 5, version=1)
    expected = apply_write(session, write)
    assert storage.sessions.write(write) == expected
    assert storage.sessions.read(session.session_id) == expected


@pytest.mark.parametrize(
    ("changes", "guard", "error"),
    [
        ({"ttl": NOW_SECONDS}, {}, SessionNotFoundError),
        ({"ttl": NOW_SECONDS - 1}, {}, SessionNotFoundError),
        ({}, {"owner": owner_of(STRANGER)}, SessionNotFoundError),
        ({}, {"owner": Owner(tenant=OWNER.tenant, subject="other")}, SessionNotFoundError),
        ({"home_region": "eu-west-1"}, {}, MisdirectedError),
        ({"status": Status.CLOSING}, {}, SessionClosedError),
        ({"status": Status.CLOSED}, {}, SessionClosedError),
        ({}, {"version": 2}, VersionConflictError),
        ({"version": 3}, {"version": 2}, VersionConflictError),
    ],
)
@pytest.mark.parametrize("change", [ReplaceState(state={}), StateOperations(increment={"n": 1})])
def test_a_refused_write_says_why_and_changes_nothing(
    storage: Storage,
    changes: dict[str, Any],
    guard: dict[str, Any],
    error: type[StoreError],
    change: Change,
) -> None:
    session = kept(storage, **changes)
    with pytest.raises(error):
        storage.sessions.write(a_write(session, change, **guard))
    assert storage.sessions.read(session.session_id) == session


@pytest.mark.parametrize("change", [*CHANGES, Transition(to=Status.CLOSED)])
def test_a_write_never_makes_a_session_that_is_not_there(storage: Storage, change: Change) -> None:
    session = a_session()
    with pytest.raises(SessionNotFoundError):
        storage.sessions.write(a_write(session, change, statuses=ANY_STATUS))
    assert storage.sessions.read(session.session_id) is None


@pytest.mark.parametrize(
    ("operations", "path"),
    [
        (StateOperations(increment={"list": 1}), "$.increment.list"),
        (StateOperations(increment={"flag": 1}), "$.increment.flag"),
        (StateOperations(append={"n": [1]}), "$.append.n"),
        (StateOperations(set={"ok": 1}, append={"map": [1]}), "$.append.map"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_path(
    storage: Storage, operations: StateOperations, path: str
) -> None:
    session = kept(storage, state={"list": [], "flag": True, "n": 1, "map": {}})
    with pytest.raises(InvalidRequestError) as refused:
        storage.sessions.write(a_write(session, operations))
    assert refused.value.facts["path"] == path
    assert storage.sessions.read(session.session_id) == session


def test_a_repeated_operation_is_done_once(storage: Storage) -> None:
    session = kept(storage, state={"n": 1})
    for change in (ReplaceState(state={"n": 10}), StateOperations(increment={"n": 1})):
        write = a_write(session, change)
        assert storage.sessions.write(write) == storage.sessions.write(write)
    after = storage.sessions.read(session.session_id)
    assert after is not None
    assert (after.version, after.state) == (3, {"n": 11})


@pytest.mark.parametrize("to", PREDECESSORS)
@pytest.mark.parametrize("status", Status)
def test_only_forward_steps_pass_and_being_there_is_success(
    storage: Storage, status: Status, to: Status
) -> None:
    session = kept(storage, status=status)
    write = a_write(session, Transition(to=to), statuses=PREDECESSORS[to])
    if status in PREDECESSORS[to]:
        assert storage.sessions.write(write) == apply_write(session, write)
    elif status == to:
        assert storage.sessions.write(write) == session
    else:
        with pytest.raises(InvalidTransitionError):
            storage.sessions.write(write)
        assert storage.sessions.read(session.session_id) == session


@pytest.mark.parametrize(
    ("max_expires_at", "ttl"),
    [
        (NOW_SECONDS + 30 * CLOSED_RETENTION, NOW_SECONDS + CLOSED_RETENTION),
        (NOW_SECONDS + CLOSED_RETENTION, NOW_SECONDS + CLOSED_RETENTION),
        (NOW_SECONDS + 2 * HOUR, NOW_SECONDS + 2 * HOUR),
    ],
)
def test_a_closed_session_stays_for_a_day_within_its_longest_life(
    storage: Storage, max_expires_at: int, ttl: int
) -> None:
    session = kept(storage, status=Status.CLOSING, max_expires_at=max_expires_at)
    closed = storage.sessions.write(
        a_write(session, Transition(to=Status.CLOSED), statuses=PREDECESSORS[Status.CLOSED])
    )
    assert (closed.status, closed.ttl, closed.version) == (Status.CLOSED, ttl, 2)


def test_an_item_past_the_limit_is_refused_and_nothing_changes(storage: Storage) -> None:
    session = kept(storage, state={"list": ["x" * 200_000, "y" * 150_000]})
    for change in (
        StateOperations(append={"list": ["z" * 60_000]}),
        StateOperations(set={"more": "z" * 60_000}),
    ):
        with pytest.raises(PayloadTooLargeError):
            storage.sessions.write(a_write(session, change))
    assert storage.sessions.read(session.session_id) == session


def test_a_slide_moves_the_end_and_not_the_version(storage: Storage) -> None:
    session = kept(storage)
    later = NOW_MS + 400_000
    slid = storage.sessions.slide(a_slide(session, now_ms=later))
    assert slid is not None
    assert (slid.ttl, slid.version) == (later // 1000 + HOUR, 1)
    assert storage.sessions.read(session.session_id) == slid


@pytest.mark.parametrize(
    ("changes", "later"),
    [
        ({}, 0),
        ({}, 359_000),
        ({"status": Status.CLOSED}, 400_000),
        ({"ttl": NOW_SECONDS + 2 * HOUR}, 400_000),
        ({"home_region": "eu-west-1"}, 400_000),
        ({}, HOUR * 1000),
    ],
)
def test_a_slide_that_is_not_due_or_not_allowed_leaves_the_session(
    storage: Storage, changes: dict[str, Any], later: int
) -> None:
    session = kept(storage, **changes)
    assert storage.sessions.slide(a_slide(session, now_ms=NOW_MS + later)) == session
    assert storage.sessions.read(session.session_id) == session


def test_a_slide_of_a_session_that_is_gone_makes_none(storage: Storage) -> None:
    session = a_session()
    assert storage.sessions.slide(a_slide(session, now_ms=NOW_MS + 400_000)) is None
    assert storage.sessions.read(session.session_id) is None


def test_a_deleted_session_is_gone_and_stays_gone(storage: Storage) -> None:
    session = kept(storage)
    guard = a_guard(statuses=ANY_STATUS)
    storage.sessions.delete(session.session_id, guard, an_event(session))
    assert storage.sessions.read(session.session_id) is None
    with pytest.raises(SessionNotFoundError):
        storage.sessions.delete(session.session_id, guard, an_event(session))
    with pytest.raises(SessionNotFoundError):
        storage.sessions.write(a_write(session, StateOperations(append={"l": [1]})))
    assert storage.sessions.read(session.session_id) is None


@pytest.mark.parametrize(
    ("guard", "error"),
    [({"owner": owner_of(STRANGER)}, SessionNotFoundError), ({"version": 9}, VersionConflictError)],
)
def test_a_refused_deletion_deletes_nothing(
    storage: Storage, guard: dict[str, Any], error: type[StoreError]
) -> None:
    session = kept(storage)
    with pytest.raises(error):
        storage.sessions.delete(session.session_id, a_guard(statuses=ANY_STATUS, **guard), an_event(session))
    assert storage.sessions.read(session.session_id) == session
