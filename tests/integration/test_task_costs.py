"""What tasks cost: round trips, and write units as DynamoDB reports them."""

import secrets
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from session_store.domain.page import PageRequest
from session_store.domain.task import Task, TaskKind, TaskStatus
from session_store.domain.task_writes import TaskFilter
from session_store.ports import Storage
from session_store.services.home import Home
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tasks.overdue import OverdueTasks
from session_store.services.tasks.queue_claim import MAX_LAPSES
from session_store.services.tool_calls.requests import SessionChange
from session_store.settings import Settings
from session_store.store import Store
from tests.support.call_samples import FOUND, RUN
from tests.support.faults import Spending
from tests.support.pages import every_item
from tests.support.samples import ALICE, NOW_MS, kept
from tests.support.task_samples import APPROVER, WORKER
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

IN: int = 1
MOVE: int = 2
"""Index writes: an entry that comes or goes, and one whose key changes, which goes and comes."""


@pytest.fixture
def queue() -> str:
    return f"q-{secrets.token_hex(8)}"


def claimed(store: Store, spending: Spending, queue: str) -> Task:
    (task,) = store.task_work.claim(WORKER, queue=queue, lease_seconds=60)
    spending.reset()
    return task


def created(store: Store, spending: Spending, queue: str) -> Task:
    task = store.tasks.create(ALICE, NewTask(queue=queue, payload=1))
    assert (spending.calls, spending.write_units) == ({"PutItem": 1}, 1 + IN)
    spending.reset()
    return task


def test_a_task_of_a_session_is_in_the_session_s_index_too(
    store: Store, spending: Spending, queue: str, on_dynamodb: Storage
) -> None:
    session_id = kept(on_dynamodb).session_id
    spending.reset()
    store.tasks.create(ALICE, NewTask(queue=queue, payload=1, session_id=session_id))
    assert (spending.calls, spending.write_units) == ({"GetItem": 1, "PutItem": 1}, 1 + IN + IN)


def test_a_task_of_a_session_leaves_the_session_s_index_as_it_ends(
    store: Store, spending: Spending, queue: str, on_dynamodb: Storage
) -> None:
    new = NewTask(queue=queue, payload=1, session_id=kept(on_dynamodb).session_id)
    store.tasks.create(ALICE, new)
    task = claimed(store, spending, queue)
    store.task_work.complete(WORKER, task.task_id, fence=task.fence, result="done")
    assert spending.write_units == 1 + MOVE + IN


def test_an_approval_with_a_deadline_is_in_the_index_of_what_falls_due(
    store: Store, spending: Spending, queue: str
) -> None:
    store.tasks.create(ALICE, NewTask(queue=queue, payload=1, kind=TaskKind.APPROVAL, deadline=NOW_MS + 5))
    assert (spending.calls, spending.write_units) == ({"PutItem": 1}, 1 + IN + IN)


def test_a_task_under_a_key_is_one_round_trip_and_a_transaction_of_two_items(
    store: Store, spending: Spending, queue: str
) -> None:
    new, key = NewTask(queue=queue, payload=1), secrets.token_hex(8)
    assert not store.keyed_tasks.create(ALICE, new, key=key).replayed
    assert (spending.calls, spending.write_units) == ({"TransactWriteItems": 1}, 2 * 2 + IN)
    assert store.keyed_tasks.create(ALICE, new, key=key).replayed
    assert spending.round_trips == 2


def test_a_claim_looks_at_one_shard_after_another_and_takes_by_one_write(
    store: Store, spending: Spending, queue: str, tables: Settings
) -> None:
    created(store, spending, queue)
    assert len(store.task_work.claim(WORKER, queue=queue, lease_seconds=60)) == 1
    assert 1 <= spending.calls.pop("Query") <= tables.status_shards
    assert (spending.calls, spending.write_units) == ({"BatchGetItem": 1, "PutItem": 1}, 1 + MOVE)


def test_a_full_queue_is_asked_once_for_several(store: Store, spending: Spending, queue: str) -> None:
    for _ in range(80):
        store.tasks.create(ALICE, NewTask(queue=queue, payload=1))
    spending.reset()
    assert len(store.task_work.claim(WORKER, queue=queue, lease_seconds=60, most=5)) == 5
    assert spending.calls == {"Query": 1, "BatchGetItem": 1, "PutItem": 5}
    assert spending.write_units == 5 * (1 + MOVE)


def test_a_claim_passes_over_lapsed_tasks_and_ends_a_few(
    store: Store, spending: Spending, queue: str, clock: SettableClock
) -> None:
    for _ in range(120):
        store.tasks.create(ALICE, NewTask(queue=queue, payload=1, deadline=NOW_MS + 1000))
    live = store.tasks.create(ALICE, NewTask(queue=queue, payload=1, due_at=NOW_MS + 2000))
    clock.pass_(60)
    spending.reset()
    (task,) = store.task_work.claim(WORKER, queue=queue, lease_seconds=60)
    assert task.task_id == live.task_id
    assert spending.calls["PutItem"] <= MAX_LAPSES + 1
    assert spending.round_trips < 60


def test_a_claim_of_an_empty_queue_is_a_query_of_each_shard_and_no_write(
    store: Store, spending: Spending, queue: str, tables: Settings
) -> None:
    assert store.task_work.claim(WORKER, queue=queue, lease_seconds=60) == []
    assert (spending.calls, spending.write_units) == ({"Query": tables.status_shards}, 0)


def test_a_task_is_completed_or_given_back_in_two_round_trips(
    store: Store, spending: Spending, queue: str
) -> None:
    created(store, spending, queue)
    task = claimed(store, spending, queue)
    store.task_work.fail(WORKER, task.task_id, fence=task.fence, error="e", retry_in=0)
    assert (spending.calls, spending.write_units) == ({"GetItem": 1, "PutItem": 1}, 1 + MOVE)
    task = claimed(store, spending, queue)
    store.task_work.complete(WORKER, task.task_id, fence=task.fence, result="done")
    assert (spending.calls, spending.write_units) == ({"GetItem": 1, "PutItem": 1}, 1 + MOVE)


def test_a_heartbeat_is_two_round_trips_and_moves_the_task_in_its_queue(
    store: Store, spending: Spending, queue: str
) -> None:
    created(store, spending, queue)
    task = claimed(store, spending, queue)
    store.task_work.heartbeat(WORKER, task.task_id, fence=task.fence, lease_seconds=90)
    assert (spending.calls, spending.write_units) == ({"GetItem": 1, "PutItem": 1}, 1 + MOVE)


def test_a_task_that_another_follows_is_a_transaction_of_two_items(
    store: Store, spending: Spending, queue: str
) -> None:
    created(store, spending, queue)
    task = claimed(store, spending, queue)
    follow = [NewTask(queue=queue, payload=2)]
    store.task_work.complete(WORKER, task.task_id, fence=task.fence, result="done", following=follow)
    assert spending.calls == {"GetItem": 1, "TransactWriteItems": 1}
    assert spending.write_units == 2 * 2 + MOVE + IN


def test_a_decision_is_two_round_trips_and_a_transaction_of_two_items(
    store: Store, spending: Spending, queue: str
) -> None:
    new = NewTask(queue=queue, payload=1, kind=TaskKind.APPROVAL)
    task = store.tasks.create(ALICE, new)
    spending.reset()
    store.approvals.decide(APPROVER, task.task_id, decision=TaskStatus.APPROVED)
    assert spending.calls == {"GetItem": 1, "TransactWriteItems": 1}
    assert spending.write_units == 2 * 2 + MOVE


def test_a_task_that_goes_with_a_call_is_one_item_more(
    store: Store, spending: Spending, queue: str, on_dynamodb: Storage
) -> None:
    session_id = kept(on_dynamodb).session_id
    begun = store.running_calls.begin(ALICE, session_id, RUN).claim
    spending.reset()
    change = SessionChange(tasks=[NewTask(queue=queue, payload=1)])
    store.finished_calls.finish(ALICE, session_id, "run", fence=begun.fence, outcome=FOUND, change=change)
    assert spending.calls == {"BatchGetItem": 1, "TransactWriteItems": 1}
    assert spending.write_units == 4 * 2 + IN + IN


def test_a_list_of_a_queue_is_a_query_of_each_shard_of_both_lanes_and_one_read_of_what_is_there(
    store: Store, spending: Spending, queue: str, tables: Settings
) -> None:
    for kind in TaskKind:
        store.tasks.create(ALICE, NewTask(queue=queue, payload=1, kind=kind))
    spending.reset()
    found = store.tasks.list(ALICE, TaskFilter(queue=queue), PageRequest(limit=20))
    assert len(found.items) == 2
    assert spending.calls == Counter(Query=2 * tables.status_shards, BatchGetItem=2)


def test_a_list_of_large_tasks_reads_hardly_more_than_it_shows(
    store: Store, queue: str, dynamodb: "DynamoDBClient"
) -> None:
    made = {store.tasks.create(ALICE, NewTask(queue=queue, payload="x" * 290_000)).task_id for _ in range(40)}
    read: list[int] = []

    def count(parsed: dict[str, Any], **_: Any) -> None:
        read.append(sum(map(len, parsed["Responses"].values())))

    dynamodb.meta.events.register("after-call.dynamodb.BatchGetItem", count)
    wanted = TaskFilter(queue=queue, kind=TaskKind.TASK)
    found = every_item(partial(store.tasks.list, ALICE, wanted), limit=20)
    assert sorted(task.task_id for task in found) == sorted(made)
    # The first page cannot know their size; each later one reads the task that no longer fits, too.
    first, *rest = read
    assert (first, sum(rest)) == (20, 36 + 9 - 1)


def test_a_full_page_of_small_tasks_is_read_at_once(store: Store, spending: Spending, queue: str) -> None:
    for _ in range(60):
        store.tasks.create(ALICE, NewTask(queue=queue, payload=1))
    spending.reset()
    wanted = TaskFilter(queue=queue, kind=TaskKind.TASK)
    assert len(every_item(partial(store.tasks.list, ALICE, wanted), limit=20)) == 60
    assert spending.calls["BatchGetItem"] == 3


def test_what_is_open_in_a_session_is_two_round_trips(
    store: Store, spending: Spending, queue: str, on_dynamodb: Storage
) -> None:
    session_id = kept(on_dynamodb).session_id
    for _ in range(3):
        store.tasks.create(ALICE, NewTask(queue=queue, payload=1, session_id=session_id))
    spending.reset()
    assert len(store.tasks.open_of(session_id).oldest) == 3
    assert spending.calls == {"Query": 1, "BatchGetItem": 1}


def test_a_run_with_nothing_overdue_is_a_query_of_each_shard(
    on_dynamodb: Storage, store: Store, spending: Spending, tables: Settings
) -> None:
    region = "region-where-nothing-is"
    access = replace(store.tasks.access, storage=on_dynamodb.tasks, home=Home(region=region))
    OverdueTasks(access=access, deadline=store.deadline).run(request_id="r")
    assert (spending.calls, spending.write_units) == ({"Query": tables.status_shards}, 0)
