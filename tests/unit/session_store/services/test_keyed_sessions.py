"""A key makes a write happen once: which requests are the same, its scope, and how long it is known."""

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.claim import ClaimStatus
from session_store.domain.idempotency_key import KEY_LIFE
from session_store.domain.session import Status
from session_store.domain.state_operations import StateOperations
from session_store.domain.window import LONGEST_LIFE
from session_store.errors import (
    IdempotencyMismatchError,
    InProgressError,
    InvalidRequestError,
    MisdirectedError,
    PayloadTooLargeError,
    SessionClosedError,
    SessionNotFoundError,
    VersionConflictError,
)
from session_store.services.new_sessions import NewSession
from tests.support.samples import ALICE, BOB, DAY, REGION, STRANGER
from tests.support.world import World

NEW = NewSession(
    idle_timeout=3600,
    max_lifetime=30 * DAY,
    state={"n": Decimal("0.1"), "big": 9007199254740993},
    protocol={"clientInfo": {"name": "c"}},
    credential_refs=("secret/a",),
)
ADD = StateOperations(increment={"n": 1}, append={"l": ["x"]})
SAME: list[Any] = [
    {"state": {"big": 9007199254740993, "n": Decimal("0.1")}},
    {"credential_refs": ["secret/a"]},
]
OTHER: list[Any] = [
    {"state": {"n": Decimal("0.1")}},
    {"idle_timeout": 3601},
    {"max_lifetime": DAY},
    {"protocol": {}},
    {"credential_refs": ()},
]


@pytest.mark.parametrize("change", SAME)
def test_the_same_session_under_the_same_key_is_made_once(world: World, change: dict[str, Any]) -> None:
    first = world.store.keyed_sessions.create(ALICE, NEW, key="k")
    world.clock.pass_(5)
    again = world.store.keyed_sessions.create(ALICE, replace(NEW, **change), key="k")
    assert (first.replayed, again.replayed) == (False, True)
    assert replace(again.session, credential_refs=("secret/a",)) == first.session
    assert list(world.memory.sessions.values()) == [first.session]


def test_a_replayed_session_is_as_it_was_made_whatever_has_become_of_it(world: World) -> None:
    made = world.store.keyed_sessions.create(ALICE, NEW, key="k").session
    world.store.sessions.change_state(ALICE, made.session_id, ADD)
    assert world.store.keyed_sessions.create(ALICE, NEW, key="k").session == made
    world.store.sessions.delete(ALICE, made.session_id)
    assert world.store.keyed_sessions.create(ALICE, NEW, key="k").session == made
    assert world.memory.sessions == {}


@pytest.mark.parametrize("change", OTHER)
def test_another_session_under_the_same_key_is_refused(world: World, change: dict[str, Any]) -> None:
    made = world.store.keyed_sessions.create(ALICE, NEW, key="k").session
    with pytest.raises(IdempotencyMismatchError):
        world.store.keyed_sessions.create(ALICE, replace(NEW, **change), key="k")
    assert list(world.memory.sessions.values()) == [made]


@pytest.mark.parametrize("other", [BOB, STRANGER])
def test_two_callers_share_no_key(world: World, other: Any) -> None:
    made = [world.store.keyed_sessions.create(caller, NEW, key="k") for caller in (ALICE, other)]
    assert [once.replayed for once in made] == [False, False]
    assert made[0].session.session_id != made[1].session.session_id


def test_two_routes_two_sessions_and_two_regions_share_no_key(world: World) -> None:
    keyed = world.store.keyed_sessions
    made = [keyed.create(ALICE, replace(NEW, state={"at": at}), key=f"k{at}").session for at in range(2)]
    changed = [
        keyed.change_state(ALICE, session.session_id, StateOperations(set={"x": 1}), key="k0")
        for session in made
    ]
    elsewhere = world.seen_from("eu-west-1").keyed_sessions.create(ALICE, NEW, key="k0")
    assert [once.replayed for once in (*changed, elsewhere)] == [False, False, False]
    assert len(world.memory.keys) == 5


def test_a_key_is_known_for_longer_than_what_was_made_with_it_can_live(world: World) -> None:
    keyed = world.store.keyed_sessions
    first = keyed.create(ALICE, NEW, key="k").session
    world.clock.pass_(LONGEST_LIFE + DAY - 1)
    assert keyed.create(ALICE, NEW, key="k").session == first
    world.clock.pass_(1)
    anew = keyed.create(ALICE, replace(NEW, state={}), key="k")
    assert not anew.replayed
    assert anew.session.session_id != first.session_id
    assert KEY_LIFE > LONGEST_LIFE


def test_the_same_change_under_the_same_key_is_done_once(world: World) -> None:
    session_id = world.open(state={"n": 1}).session_id
    change = world.store.keyed_sessions.change_state
    first = change(ALICE, session_id, ADD, key="k")
    again = change(ALICE, session_id, replace(ADD, increment={"n": Decimal(1)}), key="k")
    assert (first.replayed, again.replayed) == (False, True)
    assert first.session == again.session == world.stored(session_id)
    assert again.session.state == {"n": 2, "l": ["x"]}


def test_a_replayed_change_is_answered_with_the_session_as_it_is_by_then(world: World) -> None:
    session_id = world.open(state={"n": 1}).session_id
    world.store.keyed_sessions.change_state(ALICE, session_id, ADD, key="k", version=2)
    now = world.store.sessions.change_state(ALICE, session_id, StateOperations(set={"later": True}))
    again = world.store.keyed_sessions.change_state(ALICE, session_id, ADD, key="k", version=2)
    assert (again.session, again.replayed) == (now, True)


@pytest.mark.parametrize(
    ("operations", "version"),
    [
        (replace(ADD, increment={"n": 2}), None),
        (replace(ADD, append={"l": ["y"]}), None),
        (replace(ADD, set={"a": 1}), None),
        (replace(ADD, remove=["a"]), None),
        (ADD, 2),
        (ADD, 3),
    ],
)
def test_another_change_under_the_same_key_is_refused(
    world: World, operations: StateOperations, version: int | None
) -> None:
    session_id = world.open(state={"n": 1}).session_id
    first = world.store.keyed_sessions.change_state(ALICE, session_id, ADD, key="k")
    with pytest.raises(IdempotencyMismatchError):
        world.store.keyed_sessions.change_state(ALICE, session_id, operations, key="k", version=version)
    assert world.stored(session_id) == first.session


def test_a_replay_answers_after_the_session_was_closed_and_not_after_it_is_gone(world: World) -> None:
    session_id = world.open(state={"n": 1}).session_id
    change = world.store.keyed_sessions.change_state
    change(ALICE, session_id, ADD, key="k")
    for step in (Status.CLOSING, Status.CLOSED):
        closed = world.store.sessions.move(ALICE, session_id, step)
    assert change(ALICE, session_id, ADD, key="k").session == closed
    with pytest.raises(SessionClosedError):
        change(ALICE, session_id, ADD, key="another")
    world.store.sessions.delete(ALICE, session_id)
    with pytest.raises(SessionNotFoundError):
        change(ALICE, session_id, ADD, key="k")


def test_an_expired_session_is_not_served_by_a_replay(world: World) -> None:
    session_id = world.open(idle_timeout=10).session_id
    world.store.keyed_sessions.change_state(ALICE, session_id, ADD, key="k")
    world.clock.pass_(10)
    with pytest.raises(SessionNotFoundError):
        world.store.keyed_sessions.change_state(ALICE, session_id, ADD, key="k")


def test_a_refused_change_leaves_its_key_free(world: World) -> None:
    session_id = world.open(state={"n": 1}).session_id
    change = world.store.keyed_sessions.change_state
    with pytest.raises(VersionConflictError):
        change(ALICE, session_id, ADD, key="k", version=9)
    with pytest.raises(InvalidRequestError):
        change(ALICE, session_id, StateOperations(append={"n": [1]}), key="k")
    with pytest.raises(SessionNotFoundError):
        change(BOB, session_id, ADD, key="k")
    assert world.memory.keys == {}
    assert change(ALICE, session_id, ADD, key="k").session.state == {"n": 2, "l": ["x"]}


def test_a_refused_session_leaves_its_key_free(world: World) -> None:
    create = world.store.keyed_sessions.create
    with pytest.raises(PayloadTooLargeError):
        create(ALICE, replace(NEW, state={"a": "x" * 70_000}), key="k")
    assert not create(ALICE, NEW, key="k").replayed


def test_a_key_is_used_at_its_sessions_home_alone(world: World) -> None:
    session_id = world.open(state={"n": 1}).session_id
    elsewhere = world.seen_from("eu-west-1").keyed_sessions
    with pytest.raises(MisdirectedError):
        elsewhere.change_state(ALICE, session_id, ADD, key="k")
    world.store.keyed_sessions.change_state(ALICE, session_id, ADD, key="k")
    with pytest.raises(MisdirectedError):
        elsewhere.change_state(ALICE, session_id, ADD, key="k")


def test_a_replay_is_a_use_of_the_session(world: World) -> None:
    session_id = world.open().session_id
    world.store.keyed_sessions.change_state(ALICE, session_id, ADD, key="k")
    before = world.stored(session_id).ttl
    world.clock.pass_(400)
    again = world.store.keyed_sessions.change_state(ALICE, session_id, ADD, key="k")
    assert again.session.ttl == world.stored(session_id).ttl > before


@pytest.mark.parametrize("key", ["", " ", "k" * 257, "a\nb"])
def test_what_is_no_key_is_refused_before_anything_is_done(world: World, key: str) -> None:
    session = world.open()
    with pytest.raises(InvalidRequestError) as refused:
        world.store.keyed_sessions.change_state(ALICE, session.session_id, ADD, key=key)
    assert refused.value.facts["path"] == "header Idempotency-Key"
    with pytest.raises(InvalidRequestError):
        world.store.keyed_sessions.create(ALICE, NEW, key=key)
    assert list(world.memory.sessions.values()) == [session]


def test_a_key_whose_work_is_not_settled_is_in_progress(world: World) -> None:
    world.store.keyed_sessions.create(ALICE, NEW, key="k")
    ((name, claim),) = world.memory.keys.items()
    assert (claim.region, claim.status) == (REGION, ClaimStatus.COMPLETED)
    world.memory.keys[name] = replace(claim, status=ClaimStatus.IN_PROGRESS)
    with pytest.raises(InProgressError):
        world.store.keyed_sessions.create(ALICE, NEW, key="k")
