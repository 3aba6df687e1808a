"""Processes that work on one queue, each with a client of its own, which may have a bad day."""

from typing import TYPE_CHECKING, Any, Final

from session_store.domain.page import PageRequest
from session_store.domain.task import Task, TaskStatus
from session_store.domain.task_writes import TaskFilter
from session_store.schema import task_pk
from session_store.services.tasks.new_tasks import NewTask
from session_store.settings import Settings
from tests.support.samples import ALICE
from tests.support.task_samples import APPROVER, WORKER
from tests.support.workers import Worker
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

ALL: Final[PageRequest[Any]] = PageRequest(limit=100)
AFTER: Final = [NewTask(queue="after", payload=2), NewTask(queue="after", payload=3)]
"""What follows a task."""


class QueueWorker(Worker):
    """``queue`` is of no other test."""

    def __init__(self, client: "DynamoDBClient", tables: Settings, clock: SettableClock, queue: str) -> None:
        super().__init__(client, tables, clock)
        self.queue = queue
        self.tables = tables

    def create(self, **changes: Any) -> Task:
        return self.store.tasks.create(ALICE, self.new(**changes))

    def new(self, **changes: Any) -> NewTask:
        return NewTask(**{"queue": self.queue, "payload": 1, **changes})

    def claim(self, *, most: int = 1) -> list[Task]:
        return self.store.task_work.claim(WORKER, queue=self.queue, lease_seconds=60, most=most)

    def claimed(self) -> Task:
        (task,) = self.claim()
        return task

    def finish(self, task: Task, following: Any = AFTER, result: Any = "done") -> Any:
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
