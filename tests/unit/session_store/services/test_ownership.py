"""Absent, expired and foreign sessions cannot be told apart."""

from collections.abc import Callable

import pytest

from session_store.domain.caller import Caller
from session_store.domain.session import Status
from session_store.domain.state_operations import StateOperations
from session_store.errors import InvalidRequestError, MisdirectedError, SessionNotFoundError
from tests.support.samples import ALICE, BOB, STRANGER
from tests.support.world import World


def every_way(world: World, session_id: str, caller: Caller) -> list[Callable[[], object]]:
    store = world.store
    return [
        lambda: store.sessions.get(caller, session_id),
        lambda: store.sessions.touch(caller, session_id),
        lambda: store.sessions.replace_state(caller, session_id, {}, version=2),
        lambda: store.sessions.change_state(caller, session_id, StateOperations(set={"a": 1})),
        lambda: store.sessions.change_state(caller, session_id, StateOperations(increment={"a": 1})),
        lambda: store.sessions.move(caller, session_id, Status.CLOSING),
        lambda: store.sessions.move(caller, session_id, Status.ACTIVE),
        lambda: store.sessions.delete(caller, session_id),
    ]


@pytest.mark.parametrize("caller", [BOB, STRANGER])
def test_a_foreign_session_is_as_absent_as_an_unknown_one(world: World, caller: Caller) -> None:
    session = world.open()
    for way in every_way(world, session.session_id, caller):
        with pytest.raises(SessionNotFoundError):
            way()
    assert world.stored(session.session_id) == session


def test_an_expired_session_is_not_there_in_any_way(world: World) -> None:
    session = world.open()
    world.clock.pass_(3600)
    for way in every_way(world, session.session_id, ALICE):
        with pytest.raises(SessionNotFoundError):
            way()
    assert world.stored(session.session_id) == session


def test_a_deleted_session_is_not_there_in_any_way(world: World) -> None:
    session = world.open()
    world.store.sessions.delete(ALICE, session.session_id)
    for way in every_way(world, session.session_id, ALICE):
        with pytest.raises(SessionNotFoundError):
            way()
    assert world.memory.sessions == {}
    assert len(world.memory.events) == 1


@pytest.mark.parametrize("position", range(8))
def test_no_way_takes_what_is_no_session_id(world: World, position: int) -> None:
    way = every_way(world, "s1,s1", ALICE)[position]
    with pytest.raises(InvalidRequestError):
        way()


def test_only_the_home_region_writes(world: World) -> None:
    session = world.open()
    world.store = world.seen_from("eu-west-1")
    assert world.store.sessions.get(ALICE, session.session_id) == session
    *writes, _, delete = every_way(world, session.session_id, ALICE)[2:]
    for way in (*writes, delete):
        with pytest.raises(MisdirectedError):
            way()
    assert world.stored(session.session_id) == session
