"""Guards of session writes, and the session after each."""

from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.session import ANY_STATUS, Session, Status, owner_of
from session_store.domain.session_write import (
    PREDECESSORS,
    Guard,
    ReplaceState,
    Transition,
    already_done,
    apply_write,
    violation,
)
from session_store.domain.state_operations import StateOperations
from session_store.errors import (
    InvalidRequestError,
    InvalidTransitionError,
    MisdirectedError,
    SessionClosedError,
    SessionNotFoundError,
    StoreError,
    VersionConflictError,
)
from tests.support.samples import AUTHOR, BOB, NOW_MS, NOW_SECONDS, OWNER, REGION, a_guard, a_session, a_write

FORWARD = {
    ("initializing", "active"),
    ("initializing", "closing"),
    ("active", "closing"),
    ("closing", "closed"),
}
WRONG_TYPE = StateOperations(append={"k": [1]})
ALL_WRONG: dict[str, Any] = {
    "ttl": NOW_SECONDS,
    "owner": owner_of(BOB),
    "home_region": "eu-west-1",
    "status": Status.CLOSED,
    "version": 9,
    "state": {"k": "text"},
}
ORDER = [
    (("ttl", "owner"), SessionNotFoundError),
    (("home_region",), MisdirectedError),
    (("status",), SessionClosedError),
    (("version",), VersionConflictError),
    (("state",), InvalidRequestError),
]


@pytest.mark.parametrize(("now", "to"), list(product(Status, PREDECESSORS)))
def test_only_forward_steps_are_admitted(now: Status, to: Status) -> None:
    guard = a_guard(statuses=PREDECESSORS[to])
    error = violation(a_session(status=now), guard, Transition(to=to))
    if (now.value, to.value) in FORWARD:
        assert error is None
    else:
        assert isinstance(error, InvalidTransitionError)
        assert error.facts == {"from": now.value, "to": to.value}


def test_no_step_leads_back_to_initializing() -> None:
    assert set(PREDECESSORS) == set(Status) - {Status.INITIALIZING}


@pytest.mark.parametrize("status", Status)
def test_a_closing_or_closed_session_takes_no_state(status: Status) -> None:
    error = violation(a_session(status=status), a_guard(), ReplaceState(state={}))
    if status in (Status.INITIALIZING, Status.ACTIVE):
        assert error is None
    else:
        assert isinstance(error, SessionClosedError)
        assert error.facts == {"sessionStatus": status.value}


def test_an_absent_session_an_expired_one_and_anothers_are_the_same_refusal() -> None:
    refusals = [
        violation(None, a_guard()),
        violation(a_session(ttl=NOW_SECONDS), a_guard()),
        violation(a_session(owner=owner_of(BOB)), a_guard()),
        violation(a_session(owner=owner_of(BOB), home_region="eu-west-1"), a_guard()),
    ]
    assert {(type(error), str(error)) for error in refusals} == {
        (SessionNotFoundError, "There is no such session.")
    }
    assert [error.facts for error in refusals if error is not None] == [{}] * 4


def test_violations_are_reported_in_a_fixed_order() -> None:
    guard = a_guard(version=1)
    wrong = dict(ALL_WRONG)
    told: list[type[StoreError] | None] = []
    for names, _ in ORDER:
        error = violation(a_session(**wrong), guard, WRONG_TYPE)
        told.append(type(error) if error else None)
        for name in names:
            del wrong[name]
    assert told == [expected for _, expected in ORDER]
    assert violation(a_session(**wrong), guard, WRONG_TYPE) is None


@pytest.mark.parametrize("name", ALL_WRONG)
def test_each_clause_refuses_by_itself(name: str) -> None:
    expected = next(error for names, error in ORDER if name in names)
    guard = a_guard(version=1)
    assert isinstance(violation(a_session(**{name: ALL_WRONG[name]}), guard, WRONG_TYPE), expected)


def test_a_refusal_has_the_facts_to_go_on_with() -> None:
    misdirected = violation(a_session(home_region="eu-west-1"), a_guard())
    conflict = violation(a_session(version=7), a_guard(version=5))
    assert misdirected is not None
    assert conflict is not None
    assert misdirected.facts == {"homeRegion": "eu-west-1"}
    assert conflict.facts == {"currentVersion": 7}


def test_a_guard_without_statuses_and_version_admits_any() -> None:
    guard = Guard(now_ms=NOW_MS, owner=OWNER, region=REGION)
    assert [violation(a_session(status=status), guard) for status in ANY_STATUS] == [None] * 4
    assert violation(a_session(version=99), guard) is None


def test_a_change_raises_the_version_and_signs_the_session() -> None:
    session = a_session(version=3, write_region="eu-west-1")
    write = a_write(session, ReplaceState(state={"a": 1}), now_ms=NOW_MS + 5000)
    after = apply_write(session, write)
    assert after == replace(
        session,
        version=4,
        state={"a": 1},
        updated_at=NOW_MS + 5000,
        updated_by=AUTHOR,
        write_region="us-east-1",
        last_write=write.operation_id,
    )


def test_state_operations_change_the_state_only_where_they_say() -> None:
    session = a_session(state={"a": 1, "b": 2})
    write = a_write(session, StateOperations(set={"c": 3}, remove=["a"]))
    assert apply_write(session, write).state == {"b": 2, "c": 3}
    assert session.state == {"a": 1, "b": 2}


@pytest.mark.parametrize("to", [Status.ACTIVE, Status.CLOSING])
def test_a_step_that_does_not_close_leaves_the_end_alone(to: Status) -> None:
    session = a_session(status=Status.INITIALIZING)
    after = apply_write(session, a_write(session, Transition(to=to)))
    assert (after.status, after.ttl, after.slide_after) == (to, session.ttl, session.slide_after)


def close(session: Session) -> Session:
    return apply_write(session, a_write(session, Transition(to=Status.CLOSED)))


def test_a_closed_session_stays_readable_for_a_day() -> None:
    assert (
        close(a_session(status=Status.CLOSING, max_expires_at=NOW_SECONDS + 86_401)).ttl
        == NOW_SECONDS + 86_400
    )


def test_a_closed_session_does_not_outlive_its_longest_life() -> None:
    assert close(a_session(status=Status.CLOSING, max_expires_at=NOW_SECONDS + 60)).ttl == NOW_SECONDS + 60


def test_a_retry_recognises_its_own_write() -> None:
    session = a_session()
    write = a_write(session, ReplaceState(state={}))
    assert already_done(apply_write(session, write), write)
    assert not already_done(session, write)


def test_a_step_already_taken_is_done() -> None:
    session = a_session()
    write = a_write(session, Transition(to=Status.ACTIVE))
    assert already_done(session, write)
    assert not already_done(replace(session, status=Status.CLOSING), write)


@pytest.mark.parametrize("change", [{"owner": owner_of(BOB)}, {"ttl": NOW_SECONDS}])
def test_a_transition_of_an_absent_or_foreign_session_is_not_done(change: dict[str, Any]) -> None:
    session = a_session(**change)
    assert not already_done(session, a_write(session, Transition(to=Status.ACTIVE)))
