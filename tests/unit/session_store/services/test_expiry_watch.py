"""Notices of sessions that are about to end."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.notice import MAX_NOTICES, Notice
from session_store.domain.session import SLIDING, Author, Status
from session_store.errors import UndeliveredError
from session_store.services.expiry_watch import ExpiryWatch, WatchResult
from session_store.services.home import Home
from session_store.services.principals import EXPIRY_WATCH
from session_store.storage.memory.surroundings import MemoryBus
from tests.support.samples import ALICE, REGION
from tests.support.world import World


@pytest.fixture
def bus() -> MemoryBus:
    return MemoryBus()


@pytest.fixture
def watch(world: World, bus: MemoryBus) -> ExpiryWatch:
    return ExpiryWatch(
        sessions=world.sessions,
        bus=bus,
        clock=world.clock,
        deadline=Deadline(),
        home=Home(region=REGION),
        within=900,
    )


def told(bus: MemoryBus) -> list[str]:
    return [str(notice.detail["sessionId"]) for notice in bus.notices]


@pytest.mark.parametrize("status", Status)
def test_every_session_but_a_closed_one_is_announced_once(
    world: World, watch: ExpiryWatch, bus: MemoryBus, status: Status
) -> None:
    session = world.open(status=status, idle_timeout=600, max_lifetime=800)
    expected = [session.session_id] if status in SLIDING else []
    assert watch.run(request_id="r") == WatchResult(warned=len(expected), more=False)
    assert watch.run(request_id="r") == WatchResult(warned=0, more=False)
    assert told(bus) == expected


def test_a_session_is_announced_when_its_end_is_near(
    world: World, watch: ExpiryWatch, bus: MemoryBus
) -> None:
    session_id = world.open(idle_timeout=901).session_id
    watch.run(request_id="r")
    assert told(bus) == []
    world.clock.pass_(1)
    watch.run(request_id="r")
    assert told(bus) == [session_id]


def test_a_new_expiration_is_announced_again(world: World, watch: ExpiryWatch, bus: MemoryBus) -> None:
    session_id = world.open(idle_timeout=600).session_id
    watch.run(request_id="r")
    world.clock.pass_(60)
    world.store.sessions.touch(ALICE, session_id)
    watch.run(request_id="r")
    watch.run(request_id="r")
    assert told(bus) == [session_id] * 2
    assert bus.notices[0].event_id != bus.notices[1].event_id


def test_a_warning_leaves_the_version_and_names_the_watch(world: World, watch: ExpiryWatch) -> None:
    session = world.open(idle_timeout=600)
    watch.run(request_id="request-9")
    author = Author(principal=EXPIRY_WATCH, request_id="request-9")
    assert world.stored(session.session_id) == replace(session, warned_ttl=session.ttl, updated_by=author)


def test_an_expired_session_is_not_announced(world: World, watch: ExpiryWatch, bus: MemoryBus) -> None:
    world.open(idle_timeout=10)
    world.clock.pass_(10)
    watch.run(request_id="r")
    assert told(bus) == []


def test_each_session_is_announced_by_its_home_region(
    world: World, watch: ExpiryWatch, bus: MemoryBus
) -> None:
    world.open(idle_timeout=600)
    away = replace(watch, home=Home(region="eu-west-1"))
    assert away.run(request_id="r") == WatchResult(warned=0, more=False)
    assert told(bus) == []


def test_many_are_announced_in_requests_that_the_bus_accepts(world: World, watch: ExpiryWatch) -> None:
    opened = {world.open(idle_timeout=600).session_id for _ in range(2 * MAX_NOTICES + 3)}
    sizes: list[int] = []
    heard: set[object] = set()

    @dataclass(frozen=True)
    class CountingBus:
        def emit(self, notices: Sequence[Notice]) -> None:
            sizes.append(len(notices))
            heard.update(notice.detail["sessionId"] for notice in notices)

    assert replace(watch, bus=CountingBus()).run(request_id="r").warned == len(opened)
    assert sizes == [MAX_NOTICES, MAX_NOTICES, 3]
    assert heard == opened


def test_what_could_not_be_announced_is_announced_by_the_next_run(
    world: World, watch: ExpiryWatch, bus: MemoryBus
) -> None:
    session_id = world.open(idle_timeout=600).session_id

    @dataclass(frozen=True)
    class DeafBus:
        def emit(self, _: Sequence[Notice]) -> None:
            raise UndeliveredError("1 of 1 events")

    with pytest.raises(UndeliveredError):
        replace(watch, bus=DeafBus()).run(request_id="r")
    watch.run(request_id="r")
    assert told(bus) == [session_id]


def test_a_run_ends_in_time_and_the_next_goes_on(world: World, watch: ExpiryWatch, bus: MemoryBus) -> None:
    opened = [world.open(idle_timeout=600).session_id for _ in range(MAX_NOTICES + 1)]
    now = [0.0]
    deadline = Deadline(monotonic=lambda: now[0])
    deadline.expires_in(55)

    @dataclass(frozen=True)
    class SlowBus:
        def emit(self, notices: Sequence[Notice]) -> None:
            now[0] += 41
            bus.emit(notices)

    slow = replace(watch, bus=SlowBus(), deadline=deadline)
    assert slow.run(request_id="r") == WatchResult(warned=MAX_NOTICES, more=True)
    assert watch.run(request_id="r") == WatchResult(warned=1, more=False)
    assert sorted(told(bus)) == sorted(opened)
