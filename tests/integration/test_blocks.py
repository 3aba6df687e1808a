"""Blocks of work on DynamoDB: of many one runs, whoever is followed is told, a death leaves the truth."""

import asyncio
import secrets
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.errors import FencedError, InProgressError, OutcomeUnknownError, ThrottledError
from session_store.settings import Settings
from session_store.store import Store, store_on
from tests.support.crowd import at_once
from tests.support.faults import EVERY_WRITE, crash_at
from tests.support.losses import losses_of
from tests.support.patient import patient_dynamodb
from tests.support.samples import ALICE
from tests.support.work import KINDS, Once, given, once
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WORKERS = 32
LEASE_AND_MARGIN = 64
PATIENCE = 60


class DeadError(BaseException):
    """Nobody catches it: the process has ended."""


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def store(dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock) -> Store:
    return store_on(dynamodb_storage(tables, dynamodb, Deadline()), tables, clock=clock)


@pytest.fixture
def elsewhere(dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock) -> Store:
    """Nothing ever happens to its client. It knows where the emulator is from ``dynamodb``."""
    del dynamodb
    return store_on(dynamodb_storage(tables, patient_dynamodb(), Deadline()), tables, clock=clock)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def work(elsewhere: Store, kind: str) -> Once:
    return once(elsewhere, kind, name=secrets.token_hex(8))


async def paid(work: Any) -> None:
    await given(work.complete("paid"))


def test_of_many_workers_one_does_the_work_and_all_have_its_output(work: Once) -> None:
    runs: list[int] = []

    def attempt(number: int) -> Any:
        with work.block(wait=PATIENCE) as mine:
            if not mine.finished:
                runs.append(number)
                mine.complete({"by": number})
        return mine.output

    outputs = at_once(WORKERS, attempt)
    assert outputs == [{"by": runs[0]}] * WORKERS
    assert len(runs) == 1


def test_of_many_workers_that_do_not_wait_one_does_the_work(work: Once) -> None:
    def attempt(number: int) -> Any:
        try:
            with work.block() as mine:
                assert all(refused.acquire(timeout=PATIENCE) for _ in range(WORKERS - 1))
                mine.complete(number)
        except InProgressError as error:
            refused.release()
            return error
        return mine.output

    refused = threading.Semaphore(0)
    answers = at_once(WORKERS, attempt)
    assert len([answer for answer in answers if isinstance(answer, InProgressError)]) == WORKERS - 1


def test_a_zombie_is_told_and_fenced(work: Once, clock: SettableClock) -> None:
    with work.block(retry_safe=True) as zombie:
        clock.pass_(LEASE_AND_MARGIN)
        with work.block(retry_safe=True) as heir:
            zombie.lease.renew()
            assert zombie.lost
            with pytest.raises(FencedError):
                zombie.check()
            heir.complete("of the heir")
        with pytest.raises(FencedError):
            zombie.complete("of the dead")
        zombie.complete("of the heir")
    assert zombie.output == heir.output == "of the heir"


def test_an_outcome_whose_answer_is_lost_for_good_may_be_given_again(
    work: Once, dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock
) -> None:
    deadline = Deadline()
    losses = losses_of(dynamodb, deadline)
    store = store_on(dynamodb_storage(tables, dynamodb, deadline), tables, clock=clock)
    with replace(work, store=store).block() as held:
        losses.lose(0, and_the_time=True)
        with pytest.raises(OutcomeUnknownError):
            held.complete("paid")
        assert not held.finished
        losses.lose(None)
        held.complete("paid")
    assert work.told() == "completed"


@pytest.mark.parametrize("awaited", [False, True])
def test_a_lease_is_renewed_past_the_deadline_of_other_requests(
    kind: str, dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock, *, awaited: bool
) -> None:
    deadline = Deadline()
    store = store_on(dynamodb_storage(tables, dynamodb, deadline), tables, clock=clock, deadline=deadline)

    async def body(held: Any) -> None:
        deadline.expires_in(0)
        clock.pass_(held.lease.pause)
        assert await asyncio.to_thread(held.lease.renew)
        clock.pass_(50)
        held.check()
        with pytest.raises(ThrottledError):
            await given(held.complete("paid"))
        deadline.expires_in(PATIENCE)
        await given(held.complete("paid"))

    work = once(store, kind, awaited=awaited, name=secrets.token_hex(8))
    assert work.run(body).output == "paid"


@pytest.mark.parametrize(
    ("number", "after", "told"),
    [
        (0, False, "begun"),
        (0, True, "UnreconciledError"),
        (1, False, "UnreconciledError"),
        (1, True, "completed"),
    ],
    ids=["before begin", "after begin", "before complete", "after complete"],
)
@pytest.mark.parametrize("awaited", [False, True])
def test_a_death_at_any_write_leaves_the_truth(
    work: Once,
    store: Store,
    dynamodb: "DynamoDBClient",
    clock: SettableClock,
    *,
    number: int,
    after: bool,
    told: str,
    awaited: bool,
) -> None:
    mine = replace(work, store=store, awaited=awaited)
    crash_at(dynamodb, number, DeadError, after=after, operations=EVERY_WRITE)
    with pytest.raises(DeadError):
        mine.run(paid)
    clock.pass_(LEASE_AND_MARGIN)
    assert work.told() == told


@pytest.mark.parametrize("awaited", [False, True])
def test_a_lease_is_renewed_while_the_work_is_done(
    dynamodb: "DynamoDBClient", tables: Settings, *, awaited: bool
) -> None:
    """By the machine's clock: for as long as it takes, which is not measured."""
    store = store_on(dynamodb_storage(tables, dynamodb, Deadline()), tables)
    work = once(store, "tool call", awaited=awaited)

    async def body(call: Any) -> None:
        seen = set()
        for _ in range(PATIENCE * 10):
            claim: Any = store.tool_calls.get(ALICE, work.session_id, work.name)
            seen.add(claim.lease_until_ms)
            if len(seen) == 3:
                break
            await asyncio.sleep(0.1)
        assert len(seen) == 3
        await given(call.complete(1))

    assert work.run(body, lease_seconds=1).output == 1
