"""Waiting for the outcome of another attempt: repeated begins, for a limited time."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from session_store.deadline import Deadline
from session_store.errors import InProgressError, OutcomeUnknownError, UnreconciledError
from session_store.in_process import awaited, blocking
from session_store.in_process.free_work import ClaimSteps, FreeWork
from session_store.in_process.work import MAX_PAUSE, BlockOptions, pauses
from session_store.services.free_claims import NewClaim
from tests.support.samples import ALICE
from tests.support.work import KINDS, once
from tests.support.world import World

Wait = Callable[[Callable[[], Any], float, list[float]], Any]


@pytest.mark.parametrize("wait", [0, 0.1, 0.25, 3, 60])
def test_pauses_grow_and_come_to_the_whole_wait(wait: float) -> None:
    waited = list(pauses(wait))
    assert sum(waited) == pytest.approx(wait)
    assert waited[:-1] == sorted(waited[:-1])
    assert all(pause <= MAX_PAUSE for pause in waited)


def called(begin: Callable[[], Any], wait: float, slept: list[float]) -> Any:
    with blocking.hold(begin, BlockOptions(wait=wait), sleep=slept.append) as work:
        return work


def waited(begin: Callable[[], Any], wait: float, slept: list[float]) -> Any:
    async def sleep(pause: float) -> None:
        slept.append(pause)

    async def whole() -> Any:
        async with awaited.hold(begin, BlockOptions(wait=wait), sleep=sleep) as work:
            return work

    return asyncio.run(whole())


@pytest.fixture(params=[called, waited])
def block(request: pytest.FixtureRequest) -> Wait:
    wait: Wait = request.param
    return wait


@pytest.fixture
def steps() -> ClaimSteps:
    claims = World().store.claims
    return ClaimSteps(claims=claims, deadline=Deadline(), caller=ALICE, key="k", new=NewClaim(input=1))


def begun_by_another(steps: ClaimSteps) -> FreeWork:
    return FreeWork(steps)


def test_a_waiting_block_gets_the_outcome_of_the_other_attempt(block: Wait, steps: ClaimSteps) -> None:
    other = begun_by_another(steps)
    looked: list[int] = []

    def begin() -> FreeWork:
        looked.append(1)
        if len(looked) == 3:
            other.complete("done")
        return FreeWork(steps)

    slept: list[float] = []
    assert block(begin, 60, slept).output == "done"
    assert slept == [0.25, 0.5]


def test_a_wait_ends(block: Wait, steps: ClaimSteps) -> None:
    begun_by_another(steps)
    slept: list[float] = []
    with pytest.raises(InProgressError):
        block(lambda: FreeWork(steps), 3, slept)
    assert sum(slept) == 3


def test_a_block_does_not_wait_by_default(block: Wait, steps: ClaimSteps) -> None:
    begun_by_another(steps)
    slept: list[float] = []
    with pytest.raises(InProgressError):
        block(lambda: FreeWork(steps), 0, slept)
    assert slept == []


def test_a_wait_ends_when_the_outcome_becomes_unknown(block: Wait, steps: ClaimSteps) -> None:
    clock: Any = steps.claims.clock
    begun_by_another(steps)

    def begin() -> FreeWork:
        clock.pass_(32)
        return FreeWork(steps)

    slept: list[float] = []
    with pytest.raises(UnreconciledError):
        block(begin, 60, slept)
    assert slept == [0.25]


def test_a_begin_whose_answer_was_lost_is_asked_again_as_the_same_attempt(
    block: Wait, steps: ClaimSteps
) -> None:
    one = steps.for_one_attempt()
    begun: list[FreeWork] = []

    def begin() -> FreeWork:
        begun.append(FreeWork(one))
        if len(begun) == 1:
            raise OutcomeUnknownError
        begun[-1].complete("done")
        return begun[-1]

    assert block(begin, 1, []).output == "done"
    assert begun[0].fence == begun[1].fence


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_is_one_attempt_and_another_block_another(kind: str) -> None:
    world = World()
    work = once(world.store, kind)
    with work.block() as mine:
        with pytest.raises(InProgressError), work.block():
            pass
        mine.complete(1)


def test_a_block_of_the_store_waits_and_renews_as_its_options_say() -> None:
    world = World()
    new = NewClaim(input=1)
    with world.store.claim(ALICE, "k", new, renew_for=10) as work:
        with pytest.raises(InProgressError), world.store.claim(ALICE, "k", new, wait=0.01):
            pass
        world.clock.pass_(10)
        assert not work.lease.renew()
        work.complete(1)
