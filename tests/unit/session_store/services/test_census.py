"""The census counts living sessions by status."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.session import Session, Status
from session_store.services.census import RESERVE, Census, SessionCounts
from session_store.storage.memory.sessions import MemorySessions
from tests.support.samples import REGION
from tests.support.world import World

NONE: Final = dict.fromkeys(Status, 0)


@pytest.fixture
def census(world: World) -> Census:
    return Census(sessions=world.sessions, clock=world.clock, deadline=Deadline(), region=REGION)


def test_sessions_are_counted_by_status(world: World, census: Census) -> None:
    assert census.run() == SessionCounts(living=NONE, complete=True)
    for number, status in enumerate(Status, start=1):
        for _ in range(number):
            world.open(status=status)
    expected = {Status.INITIALIZING: 1, Status.ACTIVE: 2, Status.CLOSING: 3, Status.CLOSED: 4}
    assert census.run() == SessionCounts(living=expected, complete=True)


def test_a_session_that_is_over_is_not_counted(world: World, census: Census) -> None:
    world.open(idle_timeout=10)
    world.clock.pass_(9)
    assert census.run().living == {**NONE, Status.ACTIVE: 1}
    world.clock.pass_(1)
    assert census.run().living == NONE


def test_each_session_is_counted_by_its_home(world: World, census: Census) -> None:
    world.open()
    assert replace(census, region="eu-west-1").run().living == NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowSessions(MemorySessions):
    """Five parts per status, each of which moves the clock."""

    now: list[float]

    def count_living(self, status: Status, *, region: str, now_ms: int) -> Iterator[int]:
        del status, region, now_ms
        for _ in range(5):
            self.now[0] += 1
            yield 10


def slow(world: World, census: Census, *, seconds: float) -> tuple[Census, list[float]]:
    now = [0.0]
    deadline = Deadline(monotonic=lambda: now[0])
    deadline.expires_in(seconds)
    return replace(census, sessions=SlowSessions(memory=world.memory, now=now), deadline=deadline), now


def test_a_status_that_time_runs_out_for_is_left_out(world: World, census: Census) -> None:
    run, now = slow(world, census, seconds=RESERVE + 12)
    expected = {Status.INITIALIZING: 50, Status.ACTIVE: 50}
    assert run.run() == SessionCounts(living=expected, complete=False)
    assert now == [13]


def test_parts_add_up_and_time_that_suffices_is_used(world: World, census: Census) -> None:
    run, _ = slow(world, census, seconds=RESERVE + 20)
    assert run.run() == SessionCounts(living=dict.fromkeys(Status, 50), complete=True)


def test_a_moved_session_is_counted_where_it_is_now(world: World, census: Census) -> None:
    session: Session = world.open()
    world.memory.sessions[session.session_id] = replace(session, status=Status.CLOSING)
    assert census.run().living == {**NONE, Status.CLOSING: 1}
