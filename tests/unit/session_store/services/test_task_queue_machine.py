"""Workers with different clocks on one queue: each task has one holder at a time, and one end."""

from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.claim import LEASE_SKEW_MARGIN_MS
from session_store.domain.page import PageRequest
from session_store.domain.task import MAX_ATTEMPTS, OPEN, Task, TaskStatus
from session_store.domain.task_writes import TaskFilter
from session_store.errors import StoreError
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tasks.overdue import OverdueTasks
from session_store.storage.memory.storage import memory_storage
from session_store.store import Store, store_on
from tests.support.samples import NOW_MS, settings
from tests.support.task_samples import WORKER as SOMEBODY

WORKERS: Final = 3
SKEW_MS: Final = 2000
WORKER: Final = st.integers(0, WORKERS - 1)
QUEUE: Final = "work"


@dataclass
class Skewed:
    """The clock of ``world``, off by ``skew``."""

    world: "QueueMachine"
    skew: int

    def now_ms(self) -> int:
        return self.world.now + self.skew


@dataclass
class Worker:
    """``held``: the tasks as the worker received them, by id."""

    store: Store
    clock: Skewed
    held: dict[str, Task] = field(default_factory=dict)


class QueueMachine(RuleBasedStateMachine):
    @initialize(skews=st.lists(st.integers(-SKEW_MS, SKEW_MS), min_size=WORKERS, max_size=WORKERS))
    def start(self, skews: list[int]) -> None:
        self.now = NOW_MS
        self.storage = memory_storage()
        self.workers = []
        for skew in skews:
            clock = Skewed(self, skew)
            self.workers.append(Worker(store_on(self.storage, settings(), clock=clock), clock))
        self.made: set[str] = set()
        self.ended: dict[str, Task] = {}
        self.fences: dict[str, int] = {}

    @rule(worker=WORKER, delay=st.sampled_from([None, 3000, 20_000]), within=st.sampled_from([None, 30_000]))
    def create(self, worker: int, delay: int | None, within: int | None) -> None:
        me = self.workers[worker]
        new = NewTask(
            queue=QUEUE,
            payload=1,
            due_at=None if delay is None else self.now + delay,
            deadline=None if within is None else self.now + within,
        )
        self.made.add(me.store.tasks.create(SOMEBODY, new).task_id)

    @rule(worker=WORKER, lease=st.sampled_from([1, 3, 8]), most=st.sampled_from([1, 2]))
    def claim(self, worker: int, lease: int, most: int) -> None:
        me = self.workers[worker]
        caller = replace(SOMEBODY, subject=f"worker-{worker}")
        for task in me.store.task_work.claim(caller, queue=QUEUE, lease_seconds=lease, most=most):
            assert task.fence > self.fences.get(task.task_id, 0)
            me.held[task.task_id] = task

    @rule(worker=WORKER, what=st.sampled_from(["complete", "follow", "fail", "heartbeat", "cancel"]))
    def go_on(self, worker: int, what: str) -> None:
        """The worker dies with all tasks that it holds, or believes to hold."""
        me = self.workers[worker]
        work = me.store.task_work
        for task_id, task in list(me.held.items()):
            try:
                if what == "heartbeat":
                    me.held[task_id] = work.heartbeat(SOMEBODY, task_id, fence=task.fence, lease_seconds=8)
                    continue
                if what == "cancel":
                    me.store.tasks.cancel(SOMEBODY, task_id)
                elif what == "fail":
                    work.fail(SOMEBODY, task_id, fence=task.fence, error=worker, retry_in=0)
                else:
                    self._complete(work, task, following=what == "follow")
            except StoreError:
                pass
            del me.held[task_id]

    def _complete(self, work: Any, task: Task, *, following: bool) -> None:
        news = [NewTask(queue=QUEUE, payload=2)] if following else []
        for _ in range(2):
            done = work.complete(SOMEBODY, task.task_id, fence=task.fence, result="r", following=news)
        assert done.replayed
        self.made.update(done.following)

    @rule(worker=WORKER)
    def die(self, worker: int) -> None:
        self.workers[worker].held.clear()

    @rule(worker=WORKER)
    def watch(self, worker: int) -> None:
        me = self.workers[worker]
        access = replace(me.store.tasks.access, clock=me.clock)
        OverdueTasks(access=access, deadline=Deadline()).run(request_id="r")

    @rule(ms=st.sampled_from([1, 900, LEASE_SKEW_MARGIN_MS, 13_000]))
    def time_passes(self, ms: int) -> None:
        self.now += ms

    def everything(self) -> list[Task]:
        page: PageRequest[Any] = PageRequest(limit=10_000)
        return [
            task
            for status in (None, TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED)
            for task in self.storage.tasks.page(
                SOMEBODY.tenant, TaskFilter(status=status), now_ms=self.now, page=page
            ).items
        ]

    @invariant()
    def no_task_is_lost_or_comes_from_nowhere(self) -> None:
        assert {task.task_id for task in self.everything()} == self.made

    @invariant()
    def an_end_stands_and_fences_never_fall(self) -> None:
        for task in self.everything():
            assert task.attempts <= MAX_ATTEMPTS
            assert task.fence >= self.fences.get(task.task_id, 0)
            self.fences[task.task_id] = task.fence
            if task.task_id in self.ended:
                assert task == self.ended[task.task_id]
            elif task.status not in OPEN:
                self.ended[task.task_id] = task
                assert task.ttl is not None
            else:
                assert task.ttl is None

    @invariant()
    def no_two_believe_that_they_hold_a_task(self) -> None:
        believers = [
            task_id
            for each in self.workers
            for task_id, task in each.held.items()
            if each.clock.now_ms() < task.lease_until_ms and not self.is_over(task_id)
        ]
        assert len(believers) == len(set(believers))

    def is_over(self, task_id: str) -> bool:
        task = self.storage.tasks.read(task_id)
        return task is None or task.is_settled

    def teardown(self) -> None:
        """Whatever happened to the workers, a later one finishes all open tasks."""
        for _ in range(MAX_ATTEMPTS):
            self.now += 3_600_000
            me = self.workers[0]
            for _task in range(len(self.made)):
                for task in me.store.task_work.claim(SOMEBODY, queue=QUEUE, lease_seconds=1, most=10):
                    me.store.task_work.complete(SOMEBODY, task.task_id, fence=task.fence, result=1)
        assert [task for task in self.everything() if task.status in OPEN] == []


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = hypothesis_settings(max_examples=60, stateful_step_count=30)
