"""A checkpoint under an idempotency key is added once, and replays get the first answer."""

from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.idempotency_key import KEY_LIFE
from session_store.domain.page import PageRequest
from session_store.domain.session import Status
from session_store.errors import (
    ContentConflictError,
    IdempotencyMismatchError,
    InvalidRequestError,
    SessionClosedError,
)
from session_store.services.checkpoints import AddedCheckpoint
from session_store.services.new_checkpoints import NewCheckpoint
from session_store.services.payloads import INLINE_LIMIT
from tests.support.samples import ALICE, BOB
from tests.support.world import World

NEW = NewCheckpoint(data={"a": 1, "b": [2]}, namespace="n", retain_seconds=900)


def add(world: World, session_id: str, new: NewCheckpoint = NEW, key: str = "k") -> AddedCheckpoint:
    return world.store.keyed_checkpoints.add(ALICE, session_id, new, key=key)


def count(world: World, session_id: str) -> int:
    return len(world.memory.checkpoints.get(session_id, {}))


@pytest.mark.parametrize("data", [NEW.data, "x" * INLINE_LIMIT], ids=["small", "large"])
def test_the_same_under_the_same_key_is_stored_once_and_answered_as_at_first(world: World, data: Any) -> None:
    session_id = world.open().session_id
    new = replace(NEW, data=data)
    first = add(world, session_id, new)
    assert (first.replayed, first.by_key) == (False, False)
    (claim,) = world.memory.keys.values()
    assert claim.target == first.checkpoint.checkpoint_id
    world.clock.pass_(60)
    assert add(world, session_id, new) == AddedCheckpoint(
        checkpoint=first.checkpoint, replayed=True, by_key=True
    )
    assert count(world, session_id) == 1


def test_an_id_that_the_caller_chose_is_the_answers(world: World) -> None:
    session_id = world.open().session_id
    named = replace(NEW, checkpoint_id=world.ids.message_id(world.clock.now))
    answers = [add(world, session_id, named) for _ in range(2)]
    assert {each.checkpoint.checkpoint_id for each in answers} == {named.checkpoint_id}
    assert [each.by_key for each in answers] == [False, True]
    for step in (Status.CLOSING, Status.CLOSED):
        world.store.sessions.move(ALICE, session_id, step)
        assert add(world, session_id, named) == answers[1]


@pytest.mark.parametrize(
    "change",
    [
        {"data": {"a": 1}},
        {"namespace": ""},
        {"retain_seconds": None},
        {"parent_id": "of the first"},
        {"checkpoint_id": "of the first"},
    ],
)
def test_another_checkpoint_under_the_same_key_is_refused(world: World, change: dict[str, Any]) -> None:
    session_id = world.open().session_id
    kept = add(world, session_id).checkpoint
    change = {name: kept.checkpoint_id if name.endswith("_id") else given for name, given in change.items()}
    with pytest.raises(IdempotencyMismatchError):
        add(world, session_id, replace(NEW, **change))
    assert count(world, session_id) == 1


def test_a_replay_is_one_after_the_close_and_after_the_checkpoints_end(world: World) -> None:
    session_id = world.open(idle_timeout=7200).session_id
    first = add(world, session_id)
    again = AddedCheckpoint(checkpoint=first.checkpoint, replayed=True, by_key=True)
    world.clock.pass_(900)
    assert add(world, session_id) == again
    for step in (Status.CLOSING, Status.CLOSED):
        world.store.sessions.move(ALICE, session_id, step)
        assert add(world, session_id) == again
        with pytest.raises(SessionClosedError):
            add(world, session_id, key="other")
        with pytest.raises(IdempotencyMismatchError):
            add(world, session_id, replace(NEW, data=2))
    assert count(world, session_id) == 1


def test_a_replay_outlives_its_parent(world: World) -> None:
    session_id = world.open().session_id
    parent = add(world, session_id).checkpoint.checkpoint_id
    child = replace(NEW, data="child", parent_id=parent)
    first = add(world, session_id, child, key="child")
    world.clock.pass_(900)
    assert add(world, session_id, child, key="child").checkpoint == first.checkpoint
    with pytest.raises(InvalidRequestError):
        add(world, session_id, child, key="another")


def test_a_refusal_leaves_the_key_free(world: World) -> None:
    session_id = world.open().session_id
    taken = replace(NEW, checkpoint_id=world.ids.message_id(world.clock.now))
    world.store.checkpoints.add(ALICE, session_id, taken)
    with pytest.raises(ContentConflictError):
        add(world, session_id, replace(taken, data=2))
    with pytest.raises(InvalidRequestError):
        add(world, session_id, replace(NEW, parent_id=world.ids.message_id(world.clock.now)))
    assert world.memory.keys == {}
    assert not add(world, session_id).replayed


def test_an_id_that_is_there_is_a_replay_of_the_id_and_uses_no_key(world: World) -> None:
    session_id = world.open().session_id
    named = replace(NEW, checkpoint_id=world.ids.message_id(world.clock.now))
    first = world.store.checkpoints.add(ALICE, session_id, named)
    assert add(world, session_id, named) == AddedCheckpoint(checkpoint=first.checkpoint, replayed=True)
    assert world.memory.keys == {}


def test_two_sessions_and_two_callers_share_no_key(world: World) -> None:
    sessions = [world.open().session_id, world.open().session_id]
    theirs = world.open(caller=BOB).session_id
    assert not any(add(world, session_id).replayed for session_id in sessions)
    assert not world.store.keyed_checkpoints.add(BOB, theirs, NEW, key="k").replayed
    assert len(world.memory.keys) == 3


def test_a_key_is_forgotten_when_its_time_is_over(world: World) -> None:
    session_id = world.open().session_id
    add(world, session_id)
    (claim,) = world.memory.keys.values()
    assert claim.ttl == world.clock.now // 1000 + KEY_LIFE
    world.memory.keys[claim.key_hash] = replace(claim, ttl=world.clock.now // 1000)
    world.store.sessions.move(ALICE, session_id, Status.CLOSING)
    with pytest.raises(SessionClosedError):
        add(world, session_id)
    other = world.open().session_id
    add(world, other)
    world.clock.pass_(60)
    for held in world.memory.keys.values():
        world.memory.keys[held.key_hash] = replace(held, ttl=world.clock.now // 1000)
    assert not add(world, other).replayed


def test_what_is_no_key_is_refused(world: World) -> None:
    session_id = world.open().session_id
    for key in ("", " ", "k" * 257):
        with pytest.raises(InvalidRequestError) as refused:
            add(world, session_id, key=key)
        assert refused.value.facts["path"] == "header Idempotency-Key"
    page: PageRequest[Any] = PageRequest(limit=1)
    assert world.store.checkpoints.page(ALICE, session_id, page, namespace="n").items == ()
