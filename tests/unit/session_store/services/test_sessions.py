"""The sessions of a caller: created, changed, moved."""

from typing import Any

import pytest

from session_store.domain.session import Status
from session_store.domain.state_operations import StateOperations
from session_store.errors import (
    InvalidRequestError,
    InvalidTransitionError,
    PayloadTooLargeError,
    SessionClosedError,
    SessionNotFoundError,
    VersionConflictError,
)
from session_store.services.new_sessions import NewSession
from session_store.services.state_limits import STATE_LIMIT
from tests.support.samples import ALICE, DAY, NOW_MS, NOW_SECONDS, REGION
from tests.support.world import World


def new_session(**changes: Any) -> NewSession:
    values: dict[str, Any] = {
        "idle_timeout": 3600,
        "max_lifetime": 30 * DAY,
        "state": {},
        "protocol": {},
        "credential_refs": (),
    }
    return NewSession(**{**values, **changes})


def test_a_session_begins_initializing_at_version_1(world: World) -> None:
    new = new_session(state={"a": 1}, protocol={"protocolVersion": "2026-07-28"}, credential_refs=["ref-1"])
    session = world.store.sessions.create(ALICE, new)
    assert (session.status, session.version) == (Status.INITIALIZING, 1)
    assert (session.ttl, session.max_expires_at) == (NOW_SECONDS + 3600, NOW_SECONDS + 30 * DAY)
    assert (session.created_at, session.updated_at) == (NOW_MS, NOW_MS)
    assert (session.home_region, session.write_region) == (REGION, REGION)
    assert session.updated_by.request_id == ALICE.request_id
    assert (session.state, session.credential_refs) == ({"a": 1}, ("ref-1",))
    assert world.store.sessions.get(ALICE, session.session_id) == session


def test_two_sessions_have_two_ids(world: World) -> None:
    assert world.open().session_id != world.open().session_id


def test_a_session_never_outlives_its_longest_life_from_the_start(world: World) -> None:
    assert world.store.sessions.create(ALICE, new_session(max_lifetime=60)).ttl == NOW_SECONDS + 60


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"state": {"a": {"": 1}}}, "$.state.a"),
        ({"state": {"": 1}}, "$.state"),
        ({"protocol": {"": 1}}, "$.protocol"),
        ({"credential_refs": ["ok", "not ok"]}, "$.credentialRefs[1]"),
        ({"credential_refs": ["x" * 257]}, "$.credentialRefs[0]"),
        ({"credential_refs": ["a", "b/../c"]}, "$.credentialRefs[1]"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_nothing_is_stored(
    world: World, changes: dict[str, Any], path: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        world.store.sessions.create(ALICE, new_session(**changes))
    assert refused.value.facts["path"] == path
    assert world.memory.sessions == {}


def text_of(size: int) -> dict[str, str]:
    """A map whose JSON has that many bytes."""
    return {"k": "x" * (size - len('{"k":""}'))}


@pytest.mark.parametrize("part", ["state", "protocol"])
def test_64_kb_are_admitted_at_creation_and_a_byte_more_is_not(world: World, part: str) -> None:
    world.store.sessions.create(ALICE, new_session(**{part: text_of(STATE_LIMIT)}))
    with pytest.raises(PayloadTooLargeError) as refused:
        world.store.sessions.create(ALICE, new_session(**{part: text_of(STATE_LIMIT + 1)}))
    assert refused.value.facts == {"path": f"$.{part}", "limit": 65536, "size": 65537}


def test_64_kb_are_admitted_as_a_state_and_a_byte_more_is_not(world: World) -> None:
    session_id = world.open().session_id
    world.store.sessions.replace_state(ALICE, session_id, text_of(STATE_LIMIT), version=2)
    with pytest.raises(PayloadTooLargeError) as refused:
        world.store.sessions.replace_state(ALICE, session_id, text_of(STATE_LIMIT + 1), version=3)
    assert refused.value.facts["path"] == "$"
    assert world.stored(session_id).version == 3


@pytest.mark.parametrize(
    ("operations", "path"),
    [
        (StateOperations(set={"k": "x" * STATE_LIMIT}), "$.set"),
        (StateOperations(append={"k": ["x" * STATE_LIMIT]}), "$.append"),
        (StateOperations(increment={"x" * STATE_LIMIT: 1}, remove=["a"]), "$.remove, $.increment"),
        (StateOperations(remove=["x" * STATE_LIMIT]), "$.remove"),
    ],
)
def test_operations_of_more_than_64_kb_are_refused(
    world: World, operations: StateOperations, path: str
) -> None:
    session = world.open()
    with pytest.raises(PayloadTooLargeError) as refused:
        world.store.sessions.change_state(ALICE, session.session_id, operations)
    assert refused.value.facts["path"] == path
    assert world.stored(session.session_id) == session


def test_a_session_may_not_grow_past_an_item(world: World) -> None:
    session_id = world.open().session_id
    for key in "abcdef":
        grow = StateOperations(set={key: "x" * 65_000})
        world.store.sessions.change_state(ALICE, session_id, grow)
    with pytest.raises(PayloadTooLargeError) as refused:
        world.store.sessions.change_state(ALICE, session_id, StateOperations(set={"g": "x" * 65_000}))
    assert refused.value.facts["limit"] == 409_600
    assert list(world.stored(session_id).state) == list("abcdef")


def test_a_state_is_replaced_at_its_version_only(world: World) -> None:
    session_id = world.open(state={"a": 1}).session_id
    after = world.store.sessions.replace_state(ALICE, session_id, {"b": 2}, version=2)
    assert (after.state, after.version) == ({"b": 2}, 3)
    with pytest.raises(VersionConflictError) as refused:
        world.store.sessions.replace_state(ALICE, session_id, {"c": 3}, version=2)
    assert refused.value.facts == {"currentVersion": 3}
    assert world.stored(session_id) == after


def test_operations_are_one_write(world: World) -> None:
    session_id = world.open(state={"n": 1}).session_id
    operations = StateOperations(set={"a": 1}, increment={"n": 1}, append={"l": ["x"]})
    after = world.store.sessions.change_state(ALICE, session_id, operations)
    assert (after.state, after.version) == ({"a": 1, "n": 2, "l": ["x"]}, 3)


def test_operations_on_wrong_types_change_nothing(world: World) -> None:
    session = world.open(state={"n": "text"})
    operations = StateOperations(set={"a": 1}, increment={"n": 1})
    with pytest.raises(InvalidRequestError) as refused:
        world.store.sessions.change_state(ALICE, session.session_id, operations)
    assert refused.value.facts["path"] == "$.increment.n"
    assert world.stored(session.session_id) == session


def test_malformed_operations_are_refused_before_anything_is_asked(world: World) -> None:
    with pytest.raises(InvalidRequestError):
        world.store.sessions.change_state(ALICE, "use1-" + "a" * 32, StateOperations())


@pytest.mark.parametrize("now", Status)
@pytest.mark.parametrize("to", [Status.ACTIVE, Status.CLOSING, Status.CLOSED])
def test_a_session_goes_forward_or_stays(world: World, now: Status, to: Status) -> None:
    session = world.open(status=now)
    forward = {
        (Status.INITIALIZING, Status.ACTIVE),
        (Status.INITIALIZING, Status.CLOSING),
        (Status.ACTIVE, Status.CLOSING),
        (Status.CLOSING, Status.CLOSED),
    }
    if now is to:
        assert world.store.sessions.move(ALICE, session.session_id, to) == session
    elif (now, to) in forward:
        after = world.store.sessions.move(ALICE, session.session_id, to)
        assert (after.status, after.version) == (to, session.version + 1)
    else:
        with pytest.raises(InvalidTransitionError):
            world.store.sessions.move(ALICE, session.session_id, to)
        assert world.stored(session.session_id) == session


def test_a_step_at_another_version_is_refused(world: World) -> None:
    session = world.open()
    with pytest.raises(VersionConflictError):
        world.store.sessions.move(ALICE, session.session_id, Status.CLOSING, version=1)
    assert world.stored(session.session_id) == session


@pytest.mark.parametrize("status", [Status.CLOSING, Status.CLOSED])
def test_a_late_write_is_refused_and_leaves_the_version(world: World, status: Status) -> None:
    session = world.open(status=status)
    with pytest.raises(SessionClosedError):
        world.store.sessions.replace_state(ALICE, session.session_id, {"a": 1}, version=session.version)
    with pytest.raises(SessionClosedError):
        world.store.sessions.change_state(ALICE, session.session_id, StateOperations(set={"a": 1}))
    assert world.stored(session.session_id) == session


def test_a_closed_session_is_readable_for_a_day(world: World) -> None:
    session = world.open(status=Status.CLOSED)
    world.clock.pass_(DAY - 1)
    assert world.store.sessions.get(ALICE, session.session_id) == session
    world.clock.pass_(1)
    with pytest.raises(SessionNotFoundError):
        world.store.sessions.get(ALICE, session.session_id)
