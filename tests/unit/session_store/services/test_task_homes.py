"""Tasks of several regions: each is written in its home region and read everywhere."""

from collections.abc import Callable

import pytest

from session_store.domain.page import PageRequest
from session_store.domain.task import Task, TaskKind, TaskStatus
from session_store.domain.task_writes import TaskFilter
from session_store.errors import MisdirectedError
from session_store.services.tasks.new_tasks import NewTask
from session_store.store import Store
from tests.support.samples import ALICE, NOW_MS, REGION
from tests.support.task_samples import APPROVER, WORKER
from tests.support.world import World

FAR = "eu-west-1"
REGIONS = (REGION, FAR)


@pytest.fixture
def far(world: World) -> Store:
    return world.seen_from(FAR, regions=REGIONS)


def made(store: Store, kind: TaskKind = TaskKind.TASK) -> Task:
    return store.tasks.create(ALICE, NewTask(queue="q", payload=1, kind=kind, deadline=NOW_MS + 1000))


def test_a_task_is_at_home_where_it_is_made(world: World, far: Store) -> None:
    near, away = made(world.store), made(far)
    assert (near.home_region, near.task_id[:5]) == (REGION, "use1-")
    assert (away.home_region, away.task_id[:5]) == (FAR, "euw1-")


def test_a_task_is_read_and_listed_everywhere(world: World, far: Store) -> None:
    tasks = [made(world.store), made(far)]
    for store in (world.store, far):
        assert [store.tasks.get(ALICE, task.task_id) for task in tasks] == tasks
        found = store.tasks.list(ALICE, TaskFilter(queue="q"), PageRequest(limit=9)).items
        assert {task.task_id for task in found} == {task.task_id for task in tasks}


def test_a_worker_takes_what_is_at_home_with_it(world: World, far: Store) -> None:
    near, away = made(world.store), made(far)
    for store, task in ((world.store, near), (far, away)):
        taken = store.task_work.claim(WORKER, queue="q", lease_seconds=9, most=9)
        assert [each.task_id for each in taken] == [task.task_id]


@pytest.mark.parametrize(
    "step",
    [
        lambda store, task: store.task_work.heartbeat(WORKER, task.task_id, fence=1, lease_seconds=9),
        lambda store, task: store.task_work.complete(WORKER, task.task_id, fence=1, result=1),
        lambda store, task: store.task_work.fail(WORKER, task.task_id, fence=1, error=1),
        lambda store, task: store.tasks.cancel(ALICE, task.task_id),
        lambda store, task: store.approvals.decide(APPROVER, task.task_id, decision=TaskStatus.APPROVED),
    ],
    ids=["heartbeat", "complete", "fail", "cancel", "decide"],
)
def test_a_step_elsewhere_is_sent_home(
    world: World, far: Store, step: Callable[[Store, Task], object]
) -> None:
    task = made(world.store, TaskKind.APPROVAL)
    with pytest.raises(MisdirectedError) as refused:
        step(far, task)
    assert refused.value.facts == {"homeRegion": REGION}
    assert world.memory.tasks[task.task_id] == task


def test_a_lapsed_task_is_seen_as_lapsed_in_every_region_and_not_written_by_reads(
    world: World, far: Store
) -> None:
    task = made(world.store, TaskKind.APPROVAL)
    world.clock.pass_(1)
    seen = far.tasks.get(ALICE, task.task_id)
    assert seen.status is TaskStatus.EXPIRED
    assert world.store.tasks.get(ALICE, task.task_id) == seen
    assert world.memory.tasks[task.task_id] == task


def test_a_task_of_a_session_is_made_where_that_is_at_home(world: World, far: Store) -> None:
    session_id = world.open().session_id
    with pytest.raises(MisdirectedError):
        far.tasks.create(ALICE, NewTask(queue="q", payload=1, session_id=session_id))


def test_what_follows_a_task_is_at_home_with_it(far: Store) -> None:
    made(far)
    (task,) = far.task_work.claim(WORKER, queue="q", lease_seconds=9)
    follow = [NewTask(queue="r", payload=2)]
    done = far.task_work.complete(WORKER, task.task_id, fence=task.fence, result=1, following=follow)
    after = far.tasks.get(ALICE, done.following[0])
    assert (after.home_region, after.task_id[:5]) == (FAR, "euw1-")
