"""A request that is refused does not slide the session."""

from collections.abc import Callable
from typing import Any

import pytest

from session_store.domain.page import PageRequest
from session_store.domain.session import Status
from session_store.domain.state_operations import StateOperations
from session_store.errors import (
    ContentConflictError,
    IdempotencyMismatchError,
    InvalidRequestError,
    InvalidTransitionError,
    MisdirectedError,
    NotFoundError,
    SessionClosedError,
    StoreError,
    VersionConflictError,
)
from session_store.services.context import NewMessage
from session_store.services.tool_calls.record import RecordedCall
from tests.support.samples import ALICE
from tests.support.world import World

PAGE: PageRequest[Any] = PageRequest(limit=10)


def a_call(**changes: Any) -> RecordedCall:
    values: dict[str, Any] = {
        "tool_call_id": "c1",
        "tool_name": "search",
        "input": 1,
        "output": None,
        "error": None,
        "duration_ms": 1,
        "started_at": None,
    }
    return RecordedCall(**{**values, **changes})


class Used:
    """A session with a message and a call, due to slide."""

    def __init__(self, world: World, *, status: Status = Status.ACTIVE) -> None:
        self.world = world
        self.session_id = world.open(state={"text": "a"}).session_id
        self.message_id = world.ids.message_id(world.clock.now + 1)
        self.append(NewMessage(content=1, message_id=self.message_id))
        self.record()
        if status is Status.CLOSING:
            world.store.sessions.move(ALICE, self.session_id, status)
        assert world.slides == []
        world.clock.pass_(360)

    def append(self, *new: NewMessage, atomic: bool = False) -> object:
        return self.world.store.context.append(ALICE, self.session_id, new, atomic=atomic)

    def append_another_content(self, *, atomic: bool) -> object:
        taken = NewMessage(content=2, message_id=self.message_id)
        return self.append(taken, NewMessage(content=3), atomic=atomic)

    def record(self, **changes: Any) -> object:
        return self.world.store.recorded_calls.record(ALICE, self.session_id, a_call(**changes))

    def call(self, tool_call_id: str) -> object:
        return self.world.store.tool_calls.get(ALICE, self.session_id, tool_call_id)

    def touch(self, *, version: int | None = None) -> object:
        return self.world.store.sessions.touch(ALICE, self.session_id, version=version)

    def replace(self, *, version: int | None) -> object:
        return self.world.store.sessions.replace_state(ALICE, self.session_id, {}, version=version)

    def change(self, operations: StateOperations) -> object:
        return self.world.store.sessions.change_state(ALICE, self.session_id, operations)

    def move(self, to: Status) -> object:
        return self.world.store.sessions.move(ALICE, self.session_id, to)

    def get(self) -> object:
        return self.world.store.sessions.get(ALICE, self.session_id)

    def page(self) -> object:
        return self.world.store.context.page(ALICE, self.session_id, PAGE)

    def history(self) -> object:
        return self.world.store.tool_calls.history(ALICE, self.session_id, PAGE)


Way = Callable[[Used], object]


@pytest.mark.parametrize(
    ("way", "error"),
    [
        (lambda used: used.append_another_content(atomic=False), ContentConflictError),
        (lambda used: used.append_another_content(atomic=True), ContentConflictError),
        (
            lambda used: used.append(NewMessage(content=1, message_id=used.world.ids.message_id(0))),
            InvalidRequestError,
        ),
        (lambda used: used.record(input=2), IdempotencyMismatchError),
        (lambda used: used.record(tool_call_id="c2", started_at=10**15), InvalidRequestError),
        (lambda used: used.call("c9"), NotFoundError),
        (lambda used: used.touch(version=1), VersionConflictError),
        (lambda used: used.replace(version=1), VersionConflictError),
        (lambda used: used.change(StateOperations(increment={"text": 1})), InvalidRequestError),
        (lambda used: used.move(Status.CLOSED), InvalidTransitionError),
    ],
)
def test_a_refused_call_moves_no_end(world: World, way: Way, error: type[StoreError]) -> None:
    used = Used(world)
    with pytest.raises(error):
        way(used)
    assert world.slides == []


@pytest.mark.parametrize(
    "way", [lambda used: used.append(NewMessage(content=2)), lambda used: used.record(tool_call_id="c2")]
)
def test_a_child_that_a_closing_session_refuses_moves_no_end(world: World, way: Way) -> None:
    used = Used(world, status=Status.CLOSING)
    with pytest.raises(SessionClosedError):
        way(used)
    assert world.slides == []


USES: dict[str, Way] = {
    "append": lambda used: used.append(NewMessage(content=2)),
    "record": lambda used: used.record(tool_call_id="c2"),
    "replay": lambda used: used.record(),
    "touch": lambda used: used.touch(),
    "replace": lambda used: used.replace(version=None),
    "change": lambda used: used.change(StateOperations(append={"list": [1]})),
    "move": lambda used: used.move(Status.CLOSING),
}
READS: dict[str, Way] = {
    "get": lambda used: used.get(),
    "page": lambda used: used.page(),
    "history": lambda used: used.history(),
    "call": lambda used: used.call("c1"),
}


@pytest.mark.parametrize("use", [*USES, *READS])
def test_a_call_that_succeeds_at_home_moves_the_end_once(world: World, use: str) -> None:
    used = Used(world)
    {**USES, **READS}[use](used)
    assert len(world.slides) == 1
    assert world.stored(used.session_id).ttl == world.clock.now // 1000 + 3600


@pytest.mark.parametrize("read", READS)
def test_a_read_away_from_home_asks_for_no_slide(world: World, read: str) -> None:
    used = Used(world)
    world.store = world.seen_from("eu-west-1")
    READS[read](used)
    assert world.slides == []


@pytest.mark.parametrize("use", USES)
def test_a_write_away_from_home_is_misdirected_and_asks_for_no_slide(world: World, use: str) -> None:
    used = Used(world)
    world.store = world.seen_from("eu-west-1")
    with pytest.raises(MisdirectedError):
        USES[use](used)
    assert world.slides == []
