"""Tasks on DynamoDB on bad days: each effect once, whoever dies, and whatever is lost on the way."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from session_store.domain.task import TaskKind, TaskStatus
from session_store.errors import FencedError, PayloadTooLargeError, StoreError, ThrottledError
from session_store.services.tool_calls.requests import SessionChange
from session_store.settings import Settings
from session_store.store import Store
from tests.support.call_samples import FOUND, RUN
from tests.support.crowd import at_once
from tests.support.faults import (
    EVERY_WRITE,
    cancelled,
    conflict,
    crash_at,
    lose_first_answer,
    refuse,
    running,
    throttled,
    token_used,
)
from tests.support.patient import patient_dynamodb
from tests.support.queue_workers import AFTER, QueueWorker
from tests.support.samples import ALICE, kept
from tests.support.workers import CrashError
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WORKERS = 32
LOT = 200
OVER = 64
"""Seconds after which a lease of a minute is over by every clock."""


@pytest.fixture
def queue() -> str:
    return f"q-{secrets.token_hex(8)}"


@pytest.fixture
def process(dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock, queue: str) -> QueueWorker:
    return QueueWorker(dynamodb, tables, clock, queue)


@pytest.fixture
def other(dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock, queue: str) -> QueueWorker:
    """Nothing ever happens to this one. It knows where the emulator is from ``dynamodb``."""
    del dynamodb
    return QueueWorker(patient_dynamodb(), tables, clock, queue)


def crashes(process: QueueWorker, call: Callable[[], object], *, after: bool, number: int = 0) -> None:
    crash_at(process.client, number, CrashError, after=after, operations=EVERY_WRITE)
    with pytest.raises(CrashError):
        call()


@pytest.mark.parametrize("after", [False, True])
def test_who_dies_as_it_creates_under_a_key_is_followed_by_its_retry(
    process: QueueWorker, other: QueueWorker, *, after: bool
) -> None:
    key = secrets.token_hex(8)
    crashes(process, lambda: process.store.keyed_tasks.create(ALICE, process.new(), key=key), after=after)
    again = other.store.keyed_tasks.create(ALICE, other.new(), key=key)
    assert again.replayed is after
    assert other.in_queue() == [again.task]


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_as_it_takes_a_task_loses_none(
    process: QueueWorker, other: QueueWorker, *, after: bool
) -> None:
    task = other.create()
    crashes(process, process.claim, after=after)
    assert len(other.claim()) == (0 if after else 1)
    other.clock.pass_(OVER)
    assert other.claimed().task_id == task.task_id


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_as_it_takes_several_loses_none(
    process: QueueWorker, other: QueueWorker, *, after: bool
) -> None:
    made = {other.create().task_id for _ in range(3)}
    crashes(process, lambda: process.claim(most=3), after=after, number=1)
    other.clock.pass_(OVER)
    assert {task.task_id for task in other.claim(most=3)} == made


@pytest.mark.parametrize("following", [[], AFTER], ids=["alone", "with others"])
@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_as_it_completes_has_done_all_or_nothing(
    process: QueueWorker, other: QueueWorker, following: Any, *, after: bool
) -> None:
    other.create()
    task = other.claimed()
    crashes(process, lambda: process.finish(task, following), after=after)
    assert other.read(task).status is (TaskStatus.COMPLETED if after else TaskStatus.CLAIMED)
    done = other.finish(task, following)
    assert done.replayed is after
    assert [each.payload for each in other.followers(done)] == [new.payload for new in following]
    assert other.finish(task, following).following == done.following


@pytest.mark.parametrize("after", [False, True])
def test_who_dies_as_it_decides_has_decided_or_not(
    process: QueueWorker, other: QueueWorker, *, after: bool
) -> None:
    approval = other.create(kind=TaskKind.APPROVAL)
    crashes(process, lambda: process.decide(approval), after=after)
    assert other.events(approval) == int(after)
    assert other.decide(approval).status is TaskStatus.APPROVED
    assert other.events(approval) == 1


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_as_it_gives_back_loses_no_task(
    process: QueueWorker, other: QueueWorker, *, after: bool
) -> None:
    other.create()
    task = other.claimed()
    crashes(process, lambda: process.fail(task), after=after)
    assert other.fail(task).status is TaskStatus.PENDING
    other.clock.pass_(10)
    assert other.claimed().attempts == 2


@pytest.mark.parametrize("operation", ["PutItem", "TransactWriteItems"])
def test_a_lost_answer_is_sent_again_and_recognised(process: QueueWorker, operation: str) -> None:
    process.create()
    following = AFTER if operation == "TransactWriteItems" else []
    task = process.claimed()
    with lose_first_answer(process.client, operation):
        done = process.finish(task, following)
    assert done.task.status is TaskStatus.COMPLETED
    assert len(process.followers(done)) == len(following)


def test_a_claim_whose_answer_is_lost_has_its_task(process: QueueWorker) -> None:
    process.create()
    with lose_first_answer(process.client, "PutItem"):
        task = process.claimed()
    assert process.read(task) == task


def test_a_creation_whose_answer_is_lost_is_one_though_somebody_has_taken_it(
    process: QueueWorker, other: QueueWorker
) -> None:
    with lose_first_answer(process.client, "PutItem", meanwhile=other.claimed):
        task = process.create()
    assert other.read(task).status is TaskStatus.CLAIMED


@pytest.mark.parametrize(
    "answers",
    [
        [cancelled("TransactionConflict", "None", "None")] * 3,
        [cancelled("ThrottlingError", "None", "None")],
        [running()] * 2,
        [throttled()],
        [conflict()],
    ],
)
def test_what_passes_is_waited_for(process: QueueWorker, answers: list[dict[str, Any]]) -> None:
    process.create()
    task = process.claimed()
    refused = refuse(process.client, "TransactWriteItems", answers)
    assert len(process.followers(process.finish(task))) == 2
    assert refused.total() == len(answers)


@pytest.mark.parametrize("fault", [throttled(), cancelled("TransactionConflict", "None"), token_used()])
def test_what_does_not_pass_is_told_as_nothing_done(process: QueueWorker, fault: dict[str, Any]) -> None:
    process.create()
    task = process.claimed()
    refuse(process.client, "TransactWriteItems", [fault] * 40)
    with pytest.raises(ThrottledError):
        process.finish(task)
    assert process.read(task) == task


def test_a_token_that_did_the_work_is_replayed(process: QueueWorker, other: QueueWorker) -> None:
    process.create()
    task = process.claimed()

    def answers() -> Iterator[dict[str, Any]]:
        assert not other.finish(task).replayed
        yield token_used()

    refuse(process.client, "TransactWriteItems", answers())
    done = process.finish(task)
    assert done.replayed
    assert len(process.followers(done)) == 2


def test_tasks_that_are_taken_are_answered_though_the_next_is_throttled(process: QueueWorker) -> None:
    for _ in range(3):
        process.create()
    refuse(process.client, "PutItem", [None, None, *[throttled()] * 9])
    assert len(process.claim(most=3)) == 2


def test_a_claim_that_takes_nothing_for_want_of_throughput_says_so(process: QueueWorker) -> None:
    process.create()
    refuse(process.client, "PutItem", [throttled()] * 9)
    with pytest.raises(ThrottledError):
        process.claim()


def test_of_many_decisions_one_is_made(process: QueueWorker) -> None:
    approval = process.create(kind=TaskKind.APPROVAL)
    ways = (TaskStatus.APPROVED, TaskStatus.REJECTED)

    def decide(number: int) -> Any:
        try:
            return process.decide(approval, ways[number % 2]).status
        except StoreError as error:
            return error

    answers = at_once(WORKERS, decide)
    decided = process.read(approval).status
    agreed = [answer for answer in answers if isinstance(answer, TaskStatus)]
    assert set(agreed) == {decided}
    assert process.events(approval) == 1


def test_many_completions_of_one_task_are_one(process: QueueWorker) -> None:
    process.create()
    task = process.claimed()
    answers = at_once(WORKERS, lambda _: process.finish(task))
    assert [answer.replayed for answer in answers].count(False) <= 1
    assert len({tuple(answer.following) for answer in answers}) == 1
    assert len(process.followers(answers[0])) == 2


def test_a_zombie_is_fenced(process: QueueWorker) -> None:
    process.create()
    task = process.claimed()
    process.clock.pass_(OVER)
    successor = process.claimed()
    for step in (process.finish, process.fail):
        with pytest.raises(FencedError):
            step(task)
    assert process.read(task) == successor


def test_many_workers_do_each_task_of_a_queue_once(
    process: QueueWorker, dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock, queue: str
) -> None:
    made = {process.create(payload=number).task_id for number in range(LOT)}
    done: list[list[str]] = [[] for _ in range(WORKERS)]
    attempts: list[int] = []

    def work(number: int) -> None:
        mine = QueueWorker(dynamodb, tables, clock, queue)
        idle = 0
        while idle < 3:
            tasks = mine.claim(most=1 + number % 3)
            idle = 0 if tasks else idle + 1
            for task in tasks:
                attempts.append(task.attempts)
                assert not mine.finish(task, []).replayed
                done[number].append(task.task_id)

    at_once(WORKERS, work)
    counted = Counter(task_id for each in done for task_id in each)
    assert set(counted) == made
    assert set(counted.values()) == {1}
    assert set(attempts) == {1}
    assert process.in_queue() == []


@pytest.mark.parametrize("after", [False, True])
def test_a_call_that_dies_as_it_ends_has_created_its_tasks_or_none(
    process: QueueWorker, other: QueueWorker, *, after: bool
) -> None:
    session_id = kept(other.storage).session_id
    begun = other.store.running_calls.begin(ALICE, session_id, RUN).claim
    change = SessionChange(tasks=[other.new(), other.new(kind=TaskKind.APPROVAL)])

    def complete(store: Store) -> Any:
        return store.finished_calls.finish(
            ALICE, session_id, RUN.tool_call_id, fence=begun.fence, outcome=FOUND, change=change
        )

    crashes(process, lambda: complete(process.store), after=after)
    assert len(other.in_queue()) == (2 if after else 0)
    done = complete(other.store)
    assert {task.task_id for task in other.in_queue()} == set(done.tasks)
    assert len(other.store.tasks.open_of(session_id).oldest) == 2
    assert complete(other.store).tasks == done.tasks


def test_many_ends_of_one_call_create_its_tasks_once(process: QueueWorker) -> None:
    session_id = kept(process.storage).session_id
    begun = process.store.running_calls.begin(ALICE, session_id, RUN).claim
    change = SessionChange(tasks=[process.new()])

    def complete(_: int) -> Any:
        return process.store.finished_calls.finish(
            ALICE, session_id, RUN.tool_call_id, fence=begun.fence, outcome=FOUND, change=change
        )

    answers = at_once(WORKERS, complete)
    assert len({tuple(answer.tasks) for answer in answers}) == 1
    assert [task.task_id for task in process.in_queue()] == list(answers[0].tasks)


def test_a_call_that_brings_more_than_a_transaction_takes_is_refused_whole(process: QueueWorker) -> None:
    session_id = kept(process.storage).session_id
    begun = process.store.running_calls.begin(ALICE, session_id, RUN).claim
    change = SessionChange(tasks=[process.new(payload="x" * 290_000) for _ in range(15)])
    with pytest.raises(PayloadTooLargeError):
        process.store.finished_calls.finish(
            ALICE, session_id, RUN.tool_call_id, fence=begun.fence, outcome=FOUND, change=change
        )
    assert process.in_queue() == []
