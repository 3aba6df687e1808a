"""Tasks on DynamoDB on bad days: each effect once, whoever dies, and whatever is lost on the way."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.claim import ClaimStatus
from session_store.domain.page import PageRequest
from session_store.domain.task import Task, TaskKind, TaskStatus
from session_store.domain.task_writes import TaskFilter
from session_store.errors import FencedError, PayloadTooLargeError, StoreError, ThrottledError
from session_store.ports import Storage
from session_store.schema import task_pk
from session_store.services.call_ends import Outcome, SessionChange
from session_store.services.new_tasks import NewTask
from session_store.services.running_calls import NewCall
from session_store.settings import Settings
from session_store.storage.aws_clients import dynamodb_client
from session_store.store import Store, store_on
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
from tests.support.samples import ALICE, REGION, kept
from tests.support.task_samples import APPROVER, WORKER
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WORKERS = 32
LOT = 200
OVER = 64
"""Seconds after which a lease of a minute is over by every clock."""

ALL: PageRequest[Any] = PageRequest(limit=100)
AFTER = [NewTask(queue="after", payload=2), NewTask(queue="after", payload=3)]


CALL = NewCall(tool_call_id="c1", tool_name="pay", input=1)
DONE = Outcome(status=ClaimStatus.COMPLETED, output="done")


class CrashError(BaseException):
    """Nobody catches it: the process has ended."""


class Process:
    """One with a client of its own, over the same tables, and a queue that no other test knows."""

    def __init__(self, client: "DynamoDBClient", tables: Settings, clock: SettableClock, queue: str) -> None:
        self.client = client
        self.clock = clock
        self.queue = queue
        self.tables = tables
        self.storage: Storage = dynamodb_storage(tables, client, Deadline())
        self.store: Store = store_on(self.storage, tables, clock=clock)

    def create(self, **changes: Any) -> Task:
        return self.store.tasks.create(ALICE, self.new(**changes))

    def new(self, **changes: Any) -> NewTask:
        return NewTask(**{"queue": self.queue, "payload": 1, **changes})

    def claim(self, *, most: int = 1) -> list[Task]:
        return self.store.task_work.claim(WORKER, queue=self.queue, lease_seconds=60, most=most)

    def claimed(self) -> Task:
        (task,) = self.claim()
        return task

    def complete(self, task: Task, following: Any = AFTER, result: Any = "done") -> Any:
        return self.store.task_work.complete(
            WORKER, task.task_id, fence=task.fence, result=result, following=following
        )

    def fail(self, task: Task) -> Task:
        return self.store.task_work.fail(WORKER, task.task_id, fence=task.fence, error="e").claim

    def decide(self, task: Task, decision: TaskStatus = TaskStatus.APPROVED) -> Task:
        return self.store.approvals.decide(APPROVER, task.task_id, decision=decision).claim

    def read(self, task: Task) -> Task:
        there = self.storage.tasks.read(task.task_id)
        assert there is not None
        return there

    def in_queue(self, status: TaskStatus | None = None) -> list[Task]:
        wanted = TaskFilter(queue=self.queue, status=status)
        now_ms = self.clock.now_ms()
        return list(self.storage.tasks.page(ALICE.tenant, wanted, now_ms=now_ms, page=ALL).items)

    def followers(self, done: Any) -> list[Task]:
        return list(self.storage.tasks.read_all(done.following).values())

    def events(self, task: Task) -> int:
        """Of decisions, in the audit table."""
        found = self.client.query(
            TableName=self.tables.audit_table,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": task_pk(task.task_id)}},
        )
        return int(found["Count"])


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def queue() -> str:
    return f"q-{secrets.token_hex(8)}"


@pytest.fixture
def process(dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock, queue: str) -> Process:
    return Process(dynamodb, tables, clock, queue)


@pytest.fixture
def other(dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock, queue: str) -> Process:
    """Nothing ever happens to this one. It knows where the emulator is from ``dynamodb``."""
    del dynamodb
    return Process(dynamodb_client(region=REGION), tables, clock, queue)


def crashes(process: Process, call: Callable[[], object], *, after: bool, number: int = 0) -> None:
    crash_at(process.client, number, CrashError, after=after, operations=EVERY_WRITE)
    with pytest.raises(CrashError):
        call()


@pytest.mark.parametrize("after", [False, True])
def test_who_dies_as_it_creates_under_a_key_is_followed_by_its_retry(
    process: Process, other: Process, *, after: bool
) -> None:
    key = secrets.token_hex(8)
    crashes(process, lambda: process.store.keyed_tasks.create(ALICE, process.new(), key=key), after=after)
    again = other.store.keyed_tasks.create(ALICE, other.new(), key=key)
    assert again.replayed is after
    assert other.in_queue() == [again.task]


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_as_it_takes_a_task_loses_none(
    process: Process, other: Process, *, after: bool
) -> None:
    task = other.create()
    crashes(process, process.claim, after=after)
    assert len(other.claim()) == (0 if after else 1)
    other.clock.pass_(OVER)
    assert other.claimed().task_id == task.task_id


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_as_it_takes_several_loses_none(
    process: Process, other: Process, *, after: bool
) -> None:
    made = {other.create().task_id for _ in range(3)}
    crashes(process, lambda: process.claim(most=3), after=after, number=1)
    other.clock.pass_(OVER)
    assert {task.task_id for task in other.claim(most=3)} == made


@pytest.mark.parametrize("following", [[], AFTER], ids=["alone", "with others"])
@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_as_it_completes_has_done_all_or_nothing(
    process: Process, other: Process, following: Any, *, after: bool
) -> None:
    other.create()
    task = other.claimed()
    crashes(process, lambda: process.complete(task, following), after=after)
    assert other.read(task).status is (TaskStatus.COMPLETED if after else TaskStatus.CLAIMED)
    done = other.complete(task, following)
    assert done.done is not after
    assert [each.payload for each in other.followers(done)] == [new.payload for new in following]
    assert other.complete(task, following).following == done.following


@pytest.mark.parametrize("after", [False, True])
def test_who_dies_as_it_decides_has_decided_or_not(process: Process, other: Process, *, after: bool) -> None:
    approval = other.create(kind=TaskKind.APPROVAL)
    crashes(process, lambda: process.decide(approval), after=after)
    assert other.events(approval) == int(after)
    assert other.decide(approval).status is TaskStatus.APPROVED
    assert other.events(approval) == 1


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_as_it_gives_back_loses_no_task(
    process: Process, other: Process, *, after: bool
) -> None:
    other.create()
    task = other.claimed()
    crashes(process, lambda: process.fail(task), after=after)
    assert other.fail(task).status is TaskStatus.PENDING
    other.clock.pass_(10)
    assert other.claimed().attempts == 2


@pytest.mark.parametrize("operation", ["PutItem", "TransactWriteItems"])
def test_a_lost_answer_is_sent_again_and_recognised(process: Process, operation: str) -> None:
    process.create()
    following = AFTER if operation == "TransactWriteItems" else []
    task = process.claimed()
    with lose_first_answer(process.client, operation):
        done = process.complete(task, following)
    assert done.task.status is TaskStatus.COMPLETED
    assert len(process.followers(done)) == len(following)


def test_a_claim_whose_answer_is_lost_has_its_task(process: Process) -> None:
    process.create()
    with lose_first_answer(process.client, "PutItem"):
        task = process.claimed()
    assert process.read(task) == task


def test_a_creation_whose_answer_is_lost_is_one_though_somebody_has_taken_it(
    process: Process, other: Process
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
def test_what_passes_is_waited_for(process: Process, answers: list[dict[str, Any]]) -> None:
    process.create()
    task = process.claimed()
    refused = refuse(process.client, "TransactWriteItems", answers)
    assert len(process.followers(process.complete(task))) == 2
    assert refused.total() == len(answers)


@pytest.mark.parametrize("fault", [throttled(), cancelled("TransactionConflict", "None"), token_used()])
def test_what_does_not_pass_is_told_as_nothing_done(process: Process, fault: dict[str, Any]) -> None:
    process.create()
    task = process.claimed()
    refuse(process.client, "TransactWriteItems", [fault] * 40)
    with pytest.raises(ThrottledError):
        process.complete(task)
    assert process.read(task) == task


def test_a_token_that_did_the_work_is_replayed(process: Process, other: Process) -> None:
    process.create()
    task = process.claimed()

    def answers() -> Iterator[dict[str, Any]]:
        assert other.complete(task).done
        yield token_used()

    refuse(process.client, "TransactWriteItems", answers())
    done = process.complete(task)
    assert not done.done
    assert len(process.followers(done)) == 2


def test_tasks_that_are_taken_are_answered_though_the_next_is_throttled(process: Process) -> None:
    for _ in range(3):
        process.create()
    refuse(process.client, "PutItem", [None, None, *[throttled()] * 9])
    assert len(process.claim(most=3)) == 2


def test_a_claim_that_takes_nothing_for_want_of_throughput_says_so(process: Process) -> None:
    process.create()
    refuse(process.client, "PutItem", [throttled()] * 9)
    with pytest.raises(ThrottledError):
        process.claim()


def test_of_many_decisions_one_is_made(process: Process) -> None:
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


def test_many_completions_of_one_task_are_one(process: Process) -> None:
    process.create()
    task = process.claimed()
    answers = at_once(WORKERS, lambda _: process.complete(task))
    assert [answer.done for answer in answers].count(True) <= 1
    assert len({tuple(answer.following) for answer in answers}) == 1
    assert len(process.followers(answers[0])) == 2


def test_a_zombie_is_fenced(process: Process) -> None:
    process.create()
    task = process.claimed()
    process.clock.pass_(OVER)
    successor = process.claimed()
    for step in (process.complete, process.fail):
        with pytest.raises(FencedError):
            step(task)
    assert process.read(task) == successor


def test_many_workers_do_each_task_of_a_queue_once(
    process: Process, dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock, queue: str
) -> None:
    made = {process.create(payload=number).task_id for number in range(LOT)}
    done: list[list[str]] = [[] for _ in range(WORKERS)]
    attempts: list[int] = []

    def work(number: int) -> None:
        mine = Process(dynamodb, tables, clock, queue)
        idle = 0
        while idle < 3:
            tasks = mine.claim(most=1 + number % 3)
            idle = 0 if tasks else idle + 1
            for task in tasks:
                attempts.append(task.attempts)
                assert mine.complete(task, []).done
                done[number].append(task.task_id)

    at_once(WORKERS, work)
    counted = Counter(task_id for each in done for task_id in each)
    assert set(counted) == made
    assert set(counted.values()) == {1}
    assert set(attempts) == {1}
    assert process.in_queue() == []


@pytest.mark.parametrize("after", [False, True])
def test_a_call_that_dies_as_it_ends_has_created_its_tasks_or_none(
    process: Process, other: Process, *, after: bool
) -> None:
    session_id = kept(other.storage).session_id
    begun = other.store.running_calls.begin(ALICE, session_id, CALL).claim
    change = SessionChange(tasks=[other.new(), other.new(kind=TaskKind.APPROVAL)])

    def complete(store: Store) -> Any:
        return store.finished_calls.complete(
            ALICE, session_id, "c1", fence=begun.fence, outcome=DONE, change=change
        )

    crashes(process, lambda: complete(process.store), after=after)
    assert len(other.in_queue()) == (2 if after else 0)
    done = complete(other.store)
    assert {task.task_id for task in other.in_queue()} == set(done.tasks)
    assert len(other.store.tasks.open_of(session_id)) == 2
    assert complete(other.store).tasks == done.tasks


def test_many_ends_of_one_call_create_its_tasks_once(process: Process) -> None:
    session_id = kept(process.storage).session_id
    begun = process.store.running_calls.begin(ALICE, session_id, CALL).claim
    change = SessionChange(tasks=[process.new()])

    def complete(_: int) -> Any:
        return process.store.finished_calls.complete(
            ALICE, session_id, "c1", fence=begun.fence, outcome=DONE, change=change
        )

    answers = at_once(WORKERS, complete)
    assert len({tuple(answer.tasks) for answer in answers}) == 1
    assert [task.task_id for task in process.in_queue()] == list(answers[0].tasks)


def test_a_call_that_brings_more_than_a_transaction_takes_is_refused_whole(process: Process) -> None:
    session_id = kept(process.storage).session_id
    begun = process.store.running_calls.begin(ALICE, session_id, CALL).claim
    change = SessionChange(tasks=[process.new(payload="x" * 290_000) for _ in range(15)])
    with pytest.raises(PayloadTooLargeError):
        process.store.finished_calls.complete(
            ALICE, session_id, "c1", fence=begun.fence, outcome=DONE, change=change
        )
    assert process.in_queue() == []
