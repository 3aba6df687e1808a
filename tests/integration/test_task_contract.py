"""What every storage of tasks promises."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from session_store.domain.claim import LEASE_SKEW_MARGIN_MS
from session_store.domain.page import Page, PageRequest, TaskMark, TaskPosition
from session_store.domain.task import OPEN, Task, TaskKind, TaskStatus
from session_store.domain.task_steps import cancelled, failed, renewed
from session_store.domain.task_writes import TaskFilter, TaskSettlement
from session_store.ports import Storage
from session_store.storage.dynamodb.task_table import TaskTable
from tests.support.faults import double_entries
from tests.support.pages import every_item
from tests.support.samples import (
    AUTHOR,
    NOW_MS,
    NOW_SECONDS,
    REGION,
    SESSION_ID,
    a_session,
    an_event,
    operation_id,
)
from tests.support.task_samples import a_task, an_approval, done, kept_task, new_tenant, stepped_on, took

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

LATER = NOW_MS + 3_600_000
ALL: PageRequest[Any] = PageRequest(limit=100)
FAR_REGION = "eu-west-1"


def ids(found: Page[Task, TaskPosition]) -> list[str]:
    return [task.task_id for task in found.items]


def listed(storage: Storage, tenant: str, *, now_ms: int = NOW_MS, **wanted: Any) -> list[str]:
    read = partial(_page, storage, tenant, TaskFilter(**wanted), now_ms)
    return [task.task_id for task in every_item(read, limit=3)]


def _page(
    storage: Storage, tenant: str, wanted: TaskFilter, now_ms: int, page: PageRequest[TaskPosition]
) -> Page[Task, TaskPosition]:
    return storage.tasks.page(tenant, wanted, now_ms=now_ms, page=page)


def due(storage: Storage, tenant: str, queue: str = "mail", *, at: int = NOW_MS, limit: int = 3) -> list[str]:
    parts = storage.tasks.due(tenant, queue, region=REGION, now_ms=at, limit=limit, shuffle=lambda _: None)
    return [task_id for part in parts for task_id in part]


STATES: dict[str, Callable[[], Task]] = {
    "new": a_task,
    "of numbers": lambda: a_task(payload=[9007199254740993, None, {"a": ""}]),
    "taken": lambda: took(a_task()).claim,
    "of a session": lambda: a_task(session_id=SESSION_ID),
    "to be retried": lambda: (
        failed(
            took(a_task()).claim,
            fence=NOW_MS,
            error={"e": 1},
            retry_in=5,
            outcome_hash="h",
            author=AUTHOR,
            now_ms=NOW_MS,
        ).claim
    ),
    "done": lambda: done(took(a_task(session_id=SESSION_ID)).claim).claim,
    "an approval": lambda: an_approval(deadline_ms=LATER, payload="may I?"),
    "decided": lambda: replace(
        an_approval(),
        status=TaskStatus.APPROVED,
        decided_by="boss",
        comment="ok",
        ended_at=LATER,
        next_at=LATER,
        ttl=NOW_SECONDS + 90 * 86_400,
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_a_task_comes_back_as_it_was_kept(storage: Storage, state: str) -> None:
    task = kept_task(storage, STATES[state]())
    assert storage.tasks.read(task.task_id) == task
    assert storage.tasks.read_all([task.task_id, a_task().task_id]) == {task.task_id: task}


def test_a_task_that_nobody_made_is_not_there(storage: Storage) -> None:
    assert storage.tasks.read(a_task().task_id) is None


def test_a_task_is_taken_once(storage: Storage) -> None:
    task = kept_task(storage)
    held = stepped_on(storage, took(task))
    other = took(task, worker="other", at=NOW_MS + 1)
    assert other.guard is not None
    refused = storage.tasks.put(other.claim, other.guard)
    assert refused is not None
    assert refused.held == held
    assert storage.tasks.read(task.task_id) == held


def test_a_write_that_finds_its_own_work_is_written(storage: Storage) -> None:
    step = took(kept_task(storage))
    stepped_on(storage, step)
    stepped_on(storage, step)


def test_a_write_on_a_task_that_is_gone_is_refused(storage: Storage) -> None:
    step = took(a_task())
    assert step.guard is not None
    refused = storage.tasks.put(step.claim, step.guard)
    assert refused is not None
    assert refused.held is None


def test_a_heartbeat_in_between_keeps_a_task_from_who_would_take_it_over(storage: Storage) -> None:
    held = stepped_on(storage, took(kept_task(storage)))
    over = held.lease_until_ms + LEASE_SKEW_MARGIN_MS
    successor = took(held, at=over)
    longer = stepped_on(
        storage, renewed(held, fence=held.fence, lease_seconds=600, author=AUTHOR, now_ms=NOW_MS)
    )
    assert successor.guard is not None
    refused = storage.tasks.put(successor.claim, successor.guard)
    assert refused is not None
    assert refused.held == longer


def test_a_zombie_writes_nothing(storage: Storage) -> None:
    held = stepped_on(storage, took(kept_task(storage)))
    successor = stepped_on(storage, took(held, at=held.lease_until_ms + LEASE_SKEW_MARGIN_MS))
    late = done(held)
    assert late.guard is not None
    refused = storage.tasks.put(late.claim, late.guard)
    assert refused is not None
    assert refused.held == successor


def test_a_task_ends_with_all_that_goes_with_it(storage: Storage) -> None:
    held = stepped_on(storage, took(kept_task(storage)))
    followers = (a_task(), an_approval())
    event = an_event(a_session())
    step = done(held)
    assert step.guard is not None
    settlement = TaskSettlement(
        task=step.claim, guard=step.guard, token=operation_id(), followers=followers, event=event
    )
    assert storage.tasks.settle(settlement)
    assert storage.tasks.read(held.task_id) == step.claim
    assert [storage.tasks.read(task.task_id) for task in followers] == list(followers)
    # Another request for the same: nothing more is written.
    assert not storage.tasks.settle(replace(settlement, token=operation_id()))


def test_a_task_that_another_has_ends_with_nothing_of_what_goes_with_it(storage: Storage) -> None:
    held = stepped_on(storage, took(kept_task(storage)))
    follower = a_task()
    step = done(replace(held, fence=held.fence - 1))
    assert step.guard is not None
    settlement = TaskSettlement(
        task=step.claim, guard=step.guard, token=operation_id(), followers=(follower,)
    )
    assert not storage.tasks.settle(settlement)
    assert storage.tasks.read(follower.task_id) is None
    assert storage.tasks.read(held.task_id) == held


def test_a_follower_that_is_there_lets_nothing_be_written(storage: Storage) -> None:
    held = stepped_on(storage, took(kept_task(storage)))
    follower = kept_task(storage)
    step = done(held)
    assert step.guard is not None
    settlement = TaskSettlement(
        task=step.claim, guard=step.guard, token=operation_id(), followers=(replace(follower, payload=9),)
    )
    assert not storage.tasks.settle(settlement)
    assert storage.tasks.read(held.task_id) == held
    assert storage.tasks.read(follower.task_id) == follower


def test_what_is_due_is_what_somebody_may_take_now(storage: Storage) -> None:
    tenant = new_tenant()
    expected = {kept_task(storage, tenant=tenant).task_id for _ in range(9)}
    later = kept_task(storage, tenant=tenant, next_at=NOW_MS + 1)
    kept_task(storage, tenant=tenant, queue="mail2")
    kept_task(storage, tenant=new_tenant())
    kept_task(storage, an_approval(tenant=tenant))
    kept_task(storage, tenant=tenant, home_region=FAR_REGION)
    held = stepped_on(storage, took(kept_task(storage, tenant=tenant)))
    over = stepped_on(storage, done(stepped_on(storage, took(kept_task(storage, tenant=tenant)))))
    assert set(due(storage, tenant)) == expected
    assert set(due(storage, tenant, at=NOW_MS + 1)) == {*expected, later.task_id}
    free = held.lease_until_ms + LEASE_SKEW_MARGIN_MS
    assert held.task_id not in due(storage, tenant, at=free - 1)
    assert held.task_id in due(storage, tenant, at=free)
    assert over.task_id not in due(storage, tenant, at=free)


@pytest.mark.parametrize("queue", ["a", "a#b", "a%23b", "mail", "mai", "A"])
def test_queues_are_kept_apart(storage: Storage, queue: str) -> None:
    tenant = new_tenant()
    made = {name: kept_task(storage, tenant=tenant, queue=name).task_id for name in ("a", "a#b", "a%23b")}
    assert due(storage, tenant, queue) == ([made[queue]] if queue in made else [])
    assert listed(storage, tenant, queue=queue) == ([made[queue]] if queue in made else [])


def test_what_is_overdue_ends_by_itself(storage: Storage) -> None:
    def overdue(at: int) -> set[str]:
        parts = storage.tasks.overdue(region=REGION, now_ms=at)
        return {task_id for part in parts for task_id in part} & {approval.task_id, held.task_id}

    approval = kept_task(storage, an_approval(deadline_ms=NOW_MS + 50))
    held = stepped_on(storage, took(kept_task(storage, attempts=4)))
    kept_task(storage, an_approval(deadline_ms=NOW_MS + 50, home_region=FAR_REGION))
    free = held.lease_until_ms + LEASE_SKEW_MARGIN_MS
    assert overdue(NOW_MS + 49) == set()
    assert overdue(NOW_MS + 50) == {approval.task_id}
    assert overdue(free - 1) == {approval.task_id}
    assert overdue(free) == {approval.task_id, held.task_id}
    stepped_on(storage, cancelled(approval, author=AUTHOR, now_ms=NOW_MS))
    stepped_on(storage, done(held))
    assert overdue(free) == set()


def test_what_is_open_in_a_session_is_what_is_not_over(storage: Storage) -> None:
    session_id = a_session().session_id
    first, second = (
        kept_task(storage, session_id=session_id, tenant=new_tenant(), created_at=NOW_MS + at)
        for at in (5, 2)
    )
    held = stepped_on(storage, took(second))
    stepped_on(storage, done(stepped_on(storage, took(kept_task(storage, session_id=session_id)))))
    kept_task(storage)
    bare = [replace(task, payload=None) for task in (held, first)]
    assert storage.tasks.open_in(session_id, now_ms=NOW_MS, limit=9) == bare
    assert storage.tasks.open_in(session_id, now_ms=NOW_MS, limit=1) == bare[:1]
    assert storage.tasks.open_in(a_session().session_id, now_ms=NOW_MS, limit=9) == []


def test_lapsed_tasks_of_a_session_hide_no_open_one(storage: Storage) -> None:
    session_id = a_session().session_id
    for at in range(3):
        kept_task(storage, session_id=session_id, deadline_ms=NOW_MS, created_at=NOW_MS - 9 + at)
    live = kept_task(storage, session_id=session_id)
    (found,) = storage.tasks.open_in(session_id, now_ms=NOW_MS, limit=1)
    assert found.task_id == live.task_id


def many(storage: Storage, tenant: str) -> dict[str, Task]:
    """Of each status that there is, in two queues."""
    made = []
    for number, queue in enumerate(("b", "a") * 2):
        new = partial(kept_task, storage, tenant=tenant, queue=queue, next_at=NOW_MS - 10 * number)
        made.append(new())
        made.append(stepped_on(storage, took(new(), lease=10 + number)))
        made.append(stepped_on(storage, done(stepped_on(storage, took(new())), at=NOW_MS + number)))
        approval = new(an_approval())
        made.append(approval)
        made.append(stepped_on(storage, cancelled(new(an_approval()), author=AUTHOR, now_ms=NOW_MS)))
        made.append(stepped_on(storage, cancelled(new(), author=AUTHOR, now_ms=NOW_MS)))
    kept_task(storage, tenant=new_tenant(), queue="a")
    return {task.task_id: task for task in made}


def test_a_list_shows_each_that_is_wanted_once(storage: Storage) -> None:
    tenant = new_tenant()
    made = many(storage, tenant)
    for queue, kind, status in product((None, "a", "c"), (None, *TaskKind), (None, *TaskStatus)):
        wanted = TaskFilter(queue=queue, kind=kind, status=status)
        found = listed(storage, tenant, queue=queue, kind=kind, status=status)
        expected = [each for each, task in made.items() if wanted.takes(task)]
        assert sorted(found) == sorted(expected), wanted
        assert status or all(made[each].status in OPEN for each in found)


def test_a_list_of_work_is_by_queue_and_the_soonest_first(storage: Storage) -> None:
    tenant = new_tenant()
    made = many(storage, tenant)
    found = [made[each] for each in listed(storage, tenant, kind=TaskKind.TASK)]
    order = [(task.queue, task.next_at + LEASE_SKEW_MARGIN_MS * task.is_held) for task in found]
    assert order == sorted(order)
    assert len(found) == 8


def test_a_list_shows_what_is_over_until_it_is_gone(storage: Storage) -> None:
    tenant = new_tenant()
    over = stepped_on(storage, done(stepped_on(storage, took(kept_task(storage, tenant=tenant)))))
    assert over.ttl is not None
    last = over.ttl * 1000 - 1
    assert listed(storage, tenant, status=TaskStatus.COMPLETED, now_ms=last) == [over.task_id]
    assert listed(storage, tenant, status=TaskStatus.COMPLETED, now_ms=last + 1) == []


def test_a_list_of_a_session_shows_its_own_and_the_tenant_s(storage: Storage) -> None:
    tenant, session_id = new_tenant(), a_session().session_id
    new = partial(kept_task, storage, tenant=tenant, session_id=session_id)
    made = [new(created_at=NOW_MS + number) for number in range(5)]
    made += [
        stepped_on(storage, took(new())),
        stepped_on(storage, done(stepped_on(storage, took(new())))),
        new(an_approval()),
    ]
    kept_task(storage, tenant=new_tenant(), session_id=session_id)
    kept_task(storage, tenant=tenant, session_id=a_session().session_id)
    for kind, status in product((None, *TaskKind), (None, *TaskStatus)):
        wanted = TaskFilter(session_id=session_id, kind=kind, status=status)
        found = listed(storage, tenant, session_id=session_id, kind=kind, status=status)
        assert sorted(found) == sorted(task.task_id for task in made if wanted.takes(task)), wanted


def test_a_list_of_one_among_many_is_found(storage: Storage) -> None:
    tenant, session_id = new_tenant(), a_session().session_id
    for _ in range(120):
        stepped_on(storage, cancelled(kept_task(storage, tenant=tenant), author=AUTHOR, now_ms=NOW_MS))
    one = stepped_on(
        storage,
        cancelled(kept_task(storage, tenant=tenant, session_id=session_id), author=AUTHOR, now_ms=NOW_MS + 1),
    )
    found = storage.tasks.page(
        tenant, TaskFilter(session_id=session_id, status=TaskStatus.CANCELLED), now_ms=NOW_MS, page=ALL
    )
    assert ids(found) == [one.task_id]


def test_a_page_ends_before_it_is_too_large(storage: Storage) -> None:
    tenant = new_tenant()
    made = [kept_task(storage, tenant=tenant, payload="x" * 250_000).task_id for _ in range(6)]
    first = storage.tasks.page(tenant, TaskFilter(), now_ms=NOW_MS, page=ALL)
    assert len(first.items) == 4
    rest = storage.tasks.page(
        tenant, TaskFilter(), now_ms=NOW_MS, page=PageRequest(limit=100, after=first.next)
    )
    assert sorted([*ids(first), *ids(rest)]) == sorted(made)


def test_a_position_that_lies_nowhere_is_the_beginning(on_dynamodb: Storage) -> None:
    """As whoever makes up a cursor would have it: DynamoDB takes no start outside of what is asked for."""
    tenant = new_tenant()
    made = kept_task(on_dynamodb, tenant=tenant)
    marks = [
        TaskMark(region=REGION, shard=shard, queue="zzz", at=NOW_MS, task_id=made.task_id)
        for shard in range(4)
    ]
    elsewhere = [structs.replace(mark, region="nowhere", queue="mail") for mark in marks]
    for lane, at in (("open", marks), ("open", elsewhere), ("nowhere", [])):
        position = TaskPosition(lane=lane, marks=tuple(at))
        page = PageRequest(limit=9, after=position)
        found = on_dynamodb.tasks.page(tenant, TaskFilter(queue="mail"), now_ms=NOW_MS, page=page)
        assert ids(found) == [made.task_id]


def test_a_list_shows_the_tasks_of_every_region_of_the_store(on_dynamodb: Storage) -> None:
    tenant = new_tenant()
    made = [
        kept_task(on_dynamodb, tenant=tenant, home_region=region).task_id
        for region in (REGION, FAR_REGION)
        for _ in range(4)
    ]
    assert isinstance(on_dynamodb.tasks, TaskTable)
    wide = replace(on_dynamodb, tasks=replace(on_dynamodb.tasks, regions=(REGION, FAR_REGION)))
    assert sorted(listed(wide, tenant)) == sorted(made)


def test_a_task_of_two_index_entries_is_read_and_shown_once(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient"
) -> None:
    """As an index may answer that still has the entry from before the task moved."""
    tenant, session_id = new_tenant(), a_session().session_id
    made = kept_task(on_dynamodb, an_approval(tenant=tenant, session_id=session_id, deadline_ms=NOW_MS))
    held = kept_task(on_dynamodb, tenant=tenant)
    double_entries(dynamodb)
    assert due(on_dynamodb, tenant) == [held.task_id]
    assert listed(on_dynamodb, tenant, kind=TaskKind.APPROVAL) == [made.task_id]
    assert listed(on_dynamodb, tenant, session_id=session_id) == [made.task_id]
    in_session = on_dynamodb.tasks.open_in(session_id, now_ms=NOW_MS - 1, limit=9)
    assert [task.task_id for task in in_session] == [made.task_id]
    for ids_of_part in on_dynamodb.tasks.overdue(region=REGION, now_ms=NOW_MS):
        assert len(set(ids_of_part)) == len(ids_of_part)
