"""Tasks that lapse: past their deadline, or with the last lease expired."""

from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.claim import LEASE_SKEW_MARGIN_MS
from session_store.domain.task import MAX_ATTEMPTS, Task, TaskStatus
from session_store.services.principals import EXPIRY_WATCH
from session_store.services.tasks import overdue as overdue_tasks
from session_store.services.tasks.overdue import OverdueResult, OverdueTasks
from session_store.storage.memory.tasks import MemoryTasks
from tests.support.samples import NOW_MS
from tests.support.task_samples import a_task, an_approval, done, took
from tests.support.world import World


@pytest.fixture
def tasks(world: World) -> MemoryTasks:
    return MemoryTasks(memory=world.memory)


@pytest.fixture
def overdue(world: World, tasks: MemoryTasks) -> OverdueTasks:
    return OverdueTasks(access=replace(world.store.tasks.access, storage=tasks), deadline=Deadline())


def dead_one() -> Task:
    """A task in its last attempt, whose lease has just expired by every clock."""
    at = NOW_MS - 60_000 - LEASE_SKEW_MARGIN_MS
    return took(a_task(attempts=MAX_ATTEMPTS - 1, next_at=at), at=at).claim


def test_what_has_come_to_its_end_is_ended_once(
    world: World, tasks: MemoryTasks, overdue: OverdueTasks
) -> None:
    late, early = an_approval(deadline_ms=NOW_MS), an_approval(deadline_ms=NOW_MS + 1)
    dead = dead_one()
    alive = took(a_task(attempts=MAX_ATTEMPTS - 1)).claim
    elsewhere = an_approval(deadline_ms=NOW_MS, home_region="eu-west-1")
    for task in (late, early, dead, alive, elsewhere, a_task()):
        tasks.create(task)
    assert overdue.run(request_id="r") == OverdueResult(ended=2, more=False)
    assert overdue.run(request_id="r") == OverdueResult(ended=0, more=False)
    kept = world.memory.tasks
    assert kept[late.task_id].status is TaskStatus.EXPIRED
    assert kept[dead.task_id].status is TaskStatus.FAILED
    assert {kept[task.task_id].author.principal for task in (late, dead)} == {EXPIRY_WATCH}
    assert [kept[task.task_id] for task in (early, alive, elsewhere)] == [early, alive, elsewhere]


def test_a_task_that_was_written_concurrently_is_left_alone(world: World, tasks: MemoryTasks) -> None:
    """It is completed after the run has read it, and before the run writes its end."""
    dead = dead_one()
    tasks.create(dead)

    class Late(MemoryTasks):
        def put(self, task, guard):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - as its base has it
            MemoryTasks.put(self, done(dead).claim, guard)
            return MemoryTasks.put(self, task, guard)

    late = replace(world.store.tasks.access, storage=Late(memory=world.memory))
    slow = OverdueTasks(access=late, deadline=Deadline())
    assert slow.run(request_id="r") == OverdueResult(ended=0, more=False)
    assert world.memory.tasks[dead.task_id].status is TaskStatus.COMPLETED


def test_a_task_that_the_index_lists_too_long_is_not_ended(world: World, tasks: MemoryTasks) -> None:
    task = a_task()
    tasks.create(task)

    class Outdated(MemoryTasks):
        def overdue(self, *, region: str, now_ms: int) -> Iterator[Sequence[str]]:
            del region, now_ms
            yield [task.task_id]

    access = replace(world.store.tasks.access, storage=Outdated(memory=world.memory))
    run = OverdueTasks(access=access, deadline=Deadline()).run(request_id="r")
    assert run == OverdueResult(ended=0, more=False)
    assert world.memory.tasks[task.task_id] == task


def test_a_run_ends_no_more_than_so_many_and_the_next_goes_on(
    tasks: MemoryTasks, overdue: OverdueTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overdue_tasks, "MAX_TASKS", 3)
    for _ in range(5):
        tasks.create(an_approval(deadline_ms=NOW_MS))
    assert overdue.run(request_id="r") == OverdueResult(ended=3, more=True)
    assert overdue.run(request_id="r") == OverdueResult(ended=2, more=False)


def test_a_run_without_time_begins_nothing(tasks: MemoryTasks, overdue: OverdueTasks) -> None:
    tasks.create(an_approval(deadline_ms=NOW_MS))
    overdue.deadline.expires_in(24)
    assert overdue.run(request_id="r") == OverdueResult(ended=0, more=True)
