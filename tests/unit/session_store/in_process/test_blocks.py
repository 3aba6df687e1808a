"""Blocks that do work once: tool calls and free claims, blocking and awaited."""

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest

from session_store.errors import (
    FencedError,
    IdempotencyMismatchError,
    InProgressError,
    InvalidRequestError,
    PayloadTooLargeError,
    UnreconciledError,
    UnsettledError,
    WorkFailedError,
)
from tests.support.work import KINDS, Once, given, once
from tests.support.world import World

LEASE_AND_MARGIN = 64


class DeclinedError(Exception):
    """The tool says that nothing was done."""


class DeadError(BaseException):
    """Not caught by the block: a signal, a cancellation, the end of the process."""


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["called", "awaited"])
def work(request: pytest.FixtureRequest, world: World, kind: str) -> Once:
    return once(world.store, kind, awaited=request.param == "awaited")


def completing(output: Any) -> Any:
    async def body(work: Any) -> None:
        assert not work.finished
        await given(work.complete(output))

    return body


def raising(error: BaseException) -> Any:
    async def body(work: Any) -> None:
        assert not work.finished
        raise error

    return body


async def nothing(_: Any) -> None:
    """Neither complete nor fail."""


def renewing() -> int:
    """How many leases are being renewed in this process."""
    names = [thread.name for thread in threading.enumerate()]
    return (names + [task.get_name() for task in asyncio.all_tasks()]).count("session-store-lease")


async def must_be_finished(work: Any) -> None:
    assert work.finished


def test_work_is_done_and_its_output_is_the_blocks(work: Once) -> None:
    done = work.run(completing({"receipt": 7}))
    assert (done.finished, done.failed, done.output, done.error) == (True, False, {"receipt": 7}, None)


def test_work_that_was_done_before_gives_its_output_and_renews_nothing(work: Once) -> None:
    first = work.run(completing(None))

    async def body(work: Any) -> None:
        assert work.finished
        assert work.output is None
        assert renewing() == 0

    again = work.run(body)
    assert again.downstream_token == first.downstream_token


def test_the_lease_is_renewed_until_the_block_ends(work: Once) -> None:
    async def body(work: Any) -> None:
        assert renewing() == 1
        await given(work.complete(1))

    async def whole() -> int:
        await work.ran(body)
        return renewing()

    assert asyncio.run(whole()) == 0


def test_a_block_that_says_nothing_of_the_outcome_is_a_mistake_and_leaves_the_claim(
    work: Once, world: World
) -> None:
    with pytest.raises(UnsettledError):
        work.run(nothing)
    assert work.told() == InProgressError.__name__
    world.clock.pass_(LEASE_AND_MARGIN)
    assert work.told() == UnreconciledError.__name__


def test_an_outcome_that_is_not_there_cannot_be_asked_for(work: Once) -> None:
    async def body(work: Any) -> None:
        with pytest.raises(UnsettledError):
            _ = work.output
        with pytest.raises(UnsettledError):
            _ = work.error
        await given(work.complete(1))

    assert work.run(body).output == 1


@pytest.mark.parametrize("error", [DeclinedError("card 4111"), DeadError(), KeyboardInterrupt()])
def test_after_an_exception_the_outcome_is_unknown(work: Once, world: World, error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        work.run(raising(error))
    assert raised.value is error
    assert work.told() == InProgressError.__name__
    world.clock.pass_(LEASE_AND_MARGIN)
    assert work.told() == UnreconciledError.__name__


def test_after_an_exception_work_that_may_be_repeated_is_taken_up(work: Once, world: World) -> None:
    with pytest.raises(DeclinedError):
        work.run(raising(DeclinedError()), retry_safe=True)
    assert work.told() == InProgressError.__name__
    world.clock.pass_(LEASE_AND_MARGIN)
    assert work.told(retry_safe=True) == "begun"


def test_an_exception_that_means_failure_is_recorded_by_its_type_alone(work: Once) -> None:
    with pytest.raises(DeclinedError):
        work.run(raising(DeclinedError("card 4111")), failures=(DeclinedError,))
    again = work.run(must_be_finished)
    assert (again.failed, again.error) == (True, {"type": "DeclinedError"})
    with pytest.raises(WorkFailedError) as raised:
        _ = again.output
    assert raised.value.error == {"type": "DeclinedError"}
    assert "DeclinedError" not in str(raised.value)


def test_work_that_is_said_to_have_failed_is_not_done_again(work: Once) -> None:
    async def body(work: Any) -> None:
        await given(work.fail({"why": "no funds"}))

    assert work.run(body).failed
    assert work.run(must_be_finished).error == {"why": "no funds"}


@pytest.mark.parametrize("failures", [(), (Exception,)])
def test_an_exception_after_the_outcome_takes_nothing_back(
    work: Once, failures: tuple[type[Exception], ...]
) -> None:
    async def body(work: Any) -> None:
        await given(work.complete("paid"))
        raise DeclinedError

    with pytest.raises(DeclinedError):
        work.run(body, failures=failures)
    assert work.run(must_be_finished).output == "paid"


def test_what_the_store_refuses_is_no_failure_of_the_work(work: Once, world: World) -> None:
    async def body(work: Any) -> None:
        await given(work.complete("x" * 2_000_000))

    with pytest.raises(PayloadTooLargeError):
        work.run(body, failures=(Exception,))
    world.clock.pass_(LEASE_AND_MARGIN)
    assert work.told() == UnreconciledError.__name__


def test_a_refused_outcome_may_be_given_anew(work: Once) -> None:
    async def body(work: Any) -> None:
        with pytest.raises(PayloadTooLargeError):
            await given(work.complete("x" * 2_000_000))
        assert not work.lost
        await given(work.complete("in short"))

    assert work.run(body).output == "in short"


def test_the_same_outcome_again_is_a_success_and_another_is_none(work: Once) -> None:
    async def body(work: Any) -> None:
        await given(work.complete(1))
        await given(work.complete(1))
        with pytest.raises(IdempotencyMismatchError):
            await given(work.complete(2))

    assert work.run(body).output == 1


def test_work_held_by_another_attempt_is_in_progress_until_a_stated_time(work: Once) -> None:
    async def body(_: Any) -> None:
        with pytest.raises(InProgressError) as raised, other.block():
            pass
        assert raised.value.facts["retryAfter"] == 64
        raise DeadError

    other = replace(work, awaited=False)
    with pytest.raises(DeadError):
        work.run(body)


def test_a_renewed_lease_outlasts_the_first(work: Once, world: World) -> None:
    async def body(work: Any) -> None:
        for _ in range(6):
            world.clock.pass_(work.lease.pause)
            assert work.lease.renew()
            work.check()
        assert not work.lost
        await given(work.complete(1))

    assert work.run(body).output == 1


def test_a_lease_is_renewed_at_a_third_of_it_and_only_for_so_long(work: Once, world: World) -> None:
    async def body(work: Any) -> None:
        assert work.lease.pause == 10
        world.clock.pass_(15)
        assert not work.lease.renew()
        await given(work.complete(1))

    work.run(body, lease_seconds=30, renew_for=15)


def test_a_stale_holder_is_fenced_and_changes_nothing(work: Once, world: World) -> None:
    async def body(zombie: Any) -> None:
        world.clock.pass_(LEASE_AND_MARGIN)
        with heir.block(retry_safe=True) as newer:
            assert newer.downstream_token == zombie.downstream_token
            assert newer.fence > zombie.fence
            assert not zombie.lease.renew()
            assert zombie.lost
            with pytest.raises(FencedError):
                zombie.check()
            newer.complete("of the heir")
        with pytest.raises(FencedError):
            await given(zombie.complete("of the dead"))
        await given(zombie.complete("of the heir"))

    heir = replace(work, awaited=False)
    work.run(body, retry_safe=True)
    assert work.run(must_be_finished).output == "of the heir"


def test_a_holder_past_its_lease_may_finish_unless_another_took_over(work: Once, world: World) -> None:
    async def body(late: Any) -> None:
        world.clock.pass_(61)
        assert late.lost
        with pytest.raises(FencedError):
            late.check()
        await given(late.complete(1))
        assert not late.lost
        late.check()

    assert work.run(body).output == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_cancelled_task_leaves_the_claim_as_a_death_does(world: World, kind: str) -> None:
    work = once(world.store, kind, awaited=True)

    async def whole() -> None:
        begun = asyncio.Event()

        async def body(_: Any) -> None:
            begun.set()
            await asyncio.sleep(60)

        task = asyncio.create_task(work.ran(body, failures=(Exception,)))
        await asyncio.wait_for(begun.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert renewing() == 0

    asyncio.run(whole())
    assert work.told() == InProgressError.__name__


def test_a_block_is_entered_once(world: World, kind: str) -> None:
    block = once(world.store, kind, awaited=False).block()
    with block as work:
        work.complete(1)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="entered only once"), block:
            pass


def test_an_awaited_block_is_entered_once_also_after_an_exception(world: World, kind: str) -> None:
    block = once(world.store, kind, awaited=True).block()
    runs = []

    async def tried() -> None:
        async with block:
            runs.append(1)
            raise TimeoutError

    async def twice() -> None:
        with pytest.raises(TimeoutError):
            await tried()
        with pytest.raises(RuntimeError, match="entered only once"):
            await tried()

    asyncio.run(twice())
    assert runs == [1]


@pytest.mark.parametrize("output", ["\ud800", {1: 2}], ids=["no text", "no JSON"])
def test_an_outcome_that_cannot_be_stored_is_no_failure_of_the_work(work: Once, output: Any) -> None:
    """The side effect may have happened."""

    async def body(each: Any) -> None:
        await given(each.complete(output))

    with pytest.raises(InvalidRequestError, match=r"at \$\.output"):
        work.run(body, failures=(Exception,))
    assert work.told() == "InProgressError"


def test_a_block_inside_that_ends_unsettled_is_no_failure_of_the_one_outside(work: Once) -> None:
    with pytest.raises(UnsettledError):
        work.run(raising(UnsettledError()), failures=(Exception,))
    assert work.told() == "InProgressError"
