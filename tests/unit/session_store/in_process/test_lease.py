"""A lease is renewed in time, for a limited time, and its holder learns when it is lost."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from session_store.domain.claim import LeasedClaim
from session_store.errors import FencedError, OutcomeUnknownError, SessionNotFoundError, ThrottledError
from session_store.in_process import awaited, blocking
from session_store.in_process.lease import SHORTEST_PAUSE, Lease
from tests.support.samples import NOW_MS, a_free_claim
from tests.support.world import SettableClock


class Store:
    """Extends by ``grants`` seconds from now, unless it is to raise an error."""

    def __init__(self, clock: SettableClock) -> None:
        self.clock = clock
        self.says: Exception | None = None
        self.asked = 0
        self.grants = 60

    def extend(self) -> LeasedClaim:
        self.asked += 1
        if self.says is not None:
            raise self.says
        return a_free_claim(lease_until_ms=self.clock.now_ms() + self.grants * 1000)


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def store(clock: SettableClock) -> Store:
    return Store(clock)


@pytest.fixture
def lease(store: Store, clock: SettableClock) -> Lease:
    return Lease(store.extend, until_ms=NOW_MS + 60_000, clock=clock, renew_for=600)


def test_a_lease_is_renewed_at_each_third_of_it(lease: Lease) -> None:
    assert lease.pause == 20


def test_a_lease_is_renewed_at_a_third_of_what_was_granted_last(
    lease: Lease, store: Store, clock: SettableClock
) -> None:
    store.grants = 1
    clock.pass_(20)
    assert lease.renew()
    assert lease.pause == pytest.approx(1 / 3)
    store.says = ThrottledError()
    clock.pass_(0.3)
    assert lease.renew()
    assert lease.pause == pytest.approx(1 / 3)
    store.says, store.grants = None, 30
    assert lease.renew()
    assert lease.pause == 10


def test_a_lease_that_has_expired_is_not_renewed_without_a_pause(store: Store, clock: SettableClock) -> None:
    assert Lease(store.extend, until_ms=NOW_MS - 1, clock=clock).pause == SHORTEST_PAUSE


def test_a_lease_is_lost_to_the_millisecond(lease: Lease, clock: SettableClock) -> None:
    clock.pass_(59.999)
    assert not lease.lost
    lease.check()
    clock.pass_(0.001)
    assert lease.lost


def test_a_renewed_lease_begins_anew(lease: Lease, clock: SettableClock) -> None:
    clock.pass_(59)
    assert lease.renew()
    clock.pass_(59)
    assert not lease.lost


@pytest.mark.parametrize(
    "passing", [ThrottledError(), OutcomeUnknownError(), RuntimeError("no credentials"), OSError()]
)
def test_what_passes_is_tried_again(
    lease: Lease, store: Store, clock: SettableClock, passing: Exception
) -> None:
    store.says = passing
    clock.pass_(20)
    assert lease.renew()
    assert not lease.lost
    store.says = None
    assert lease.renew()
    clock.pass_(59)
    assert not lease.lost


def test_a_lease_that_could_not_be_renewed_is_lost_when_it_expires_with_the_error_as_cause(
    lease: Lease, store: Store, clock: SettableClock
) -> None:
    store.says = ThrottledError()
    clock.pass_(60)
    assert lease.renew()
    with pytest.raises(FencedError) as raised:
        lease.check()
    assert raised.value.__cause__ is store.says
    store.says = None
    assert lease.renew()
    assert not lease.lost


@pytest.mark.parametrize("refusal", [FencedError(), SessionNotFoundError()])
def test_a_refused_lease_is_lost_at_once_and_asked_for_no_more(
    lease: Lease, store: Store, refusal: Exception
) -> None:
    store.says = refusal
    assert not lease.renew()
    assert lease.lost
    with pytest.raises(FencedError) as raised:
        lease.check()
    assert raised.value.__cause__ is refusal


def test_a_lease_is_not_renewed_for_ever(lease: Lease, store: Store, clock: SettableClock) -> None:
    asked_again = []
    for _ in range(40):
        asked_again.append(lease.renew())
        clock.pass_(lease.pause)
    assert asked_again == [True] * 30 + [False] * 10
    assert store.asked == 30


class Beats:
    """Sets an event at the third renewal."""

    def __init__(self) -> None:
        self.asked = 0
        self.enough = threading.Event()

    def extend(self) -> LeasedClaim:
        self.asked += 1
        if self.asked >= 3:
            self.enough.set()
        return a_free_claim(lease_until_ms=NOW_MS + 30)


def quick(extend: Callable[[], LeasedClaim]) -> Lease:
    """A lease that is renewed as soon as any is."""
    return Lease(extend, until_ms=NOW_MS + 30, clock=SettableClock())


def test_a_thread_renews_while_the_block_runs_and_ends_with_it() -> None:
    beats = Beats()
    before = set(threading.enumerate())
    with blocking.renewing(quick(beats.extend)):
        assert beats.enough.wait(60)
    asked = beats.asked
    assert not set(threading.enumerate()) - before
    assert beats.asked == asked


def test_a_thread_ends_by_itself_when_the_lease_is_refused() -> None:
    def refuse() -> LeasedClaim:
        raise FencedError

    lease = quick(refuse)
    with blocking.renewing(lease):
        for thread in threading.enumerate():
            if thread.name == "session-store-lease":
                thread.join(60)
                assert not thread.is_alive()
        assert lease.lost


def test_an_interrupt_while_the_thread_starts_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    beats, start = Beats(), threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt), blocking.renewing(quick(beats.extend)):
        pytest.fail("the block never begins")
    assert not set(threading.enumerate()) - before


def test_a_thread_that_cannot_be_started_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(RuntimeError, match="new thread"), blocking.renewing(quick(Beats().extend)):
        pytest.fail("the block never begins")


def test_a_task_renews_while_the_block_runs_and_ends_with_it() -> None:
    beats = Beats()

    async def whole() -> None:
        async with awaited.renewing(quick(beats.extend)):
            assert await asyncio.to_thread(beats.enough.wait, 60)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(whole())


def test_a_task_ends_by_itself_when_the_lease_is_refused() -> None:
    def refuse() -> LeasedClaim:
        raise FencedError

    async def whole() -> None:
        async with awaited.renewing(quick(refuse)):
            (task,) = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.wait([task], timeout=60)
            assert task.done()

    asyncio.run(whole())


def test_a_cancelled_block_ends_its_renewals() -> None:
    beats = Beats()

    async def worker() -> None:
        async with awaited.renewing(quick(beats.extend)):
            await asyncio.sleep(60)

    async def whole() -> None:
        task = asyncio.create_task(worker())
        assert await asyncio.to_thread(beats.enough.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(whole())
