"""Claims of a queue in which many tasks have lapsed."""

import pytest

from session_store.domain.task import TaskStatus
from session_store.services.tasks.queue_claim import MAX_LAPSES
from session_store.storage.memory.tasks import MemoryTasks
from tests.support.samples import NOW_MS
from tests.support.task_samples import WORKER, a_task
from tests.support.world import World


@pytest.mark.parametrize("lapses", [MAX_LAPSES - 1, 60])
def test_a_claim_finds_the_live_task_among_lapsed_ones_and_ends_a_few(world: World, lapses: int) -> None:
    tasks = MemoryTasks(memory=world.memory)
    dead = [a_task(due_at=0, next_at=0, deadline_ms=NOW_MS) for _ in range(lapses)]
    live = a_task()
    for task in (*dead, live):
        tasks.create(task)
    (claimed,) = world.store.task_work.claim(WORKER, queue=live.queue, lease_seconds=60)
    assert claimed.task_id == live.task_id
    stored = [world.memory.tasks[task.task_id] for task in dead]
    ended = [task for task in stored if task.status is TaskStatus.FAILED]
    assert len(ended) <= MAX_LAPSES
    assert all(task in dead for task in stored if task not in ended)
