"""The bodies of answers about tasks and approvals."""

from typing import Any, Literal

from session_api.answers import Answer
from session_store.domain.task import Task
from session_store.domain.times import MILLIS, iso
from session_store.services.tasks.work import CompletedTask

TaskKindName = Literal["task", "approval"]
TaskStatusName = Literal[
    "pending", "claimed", "completed", "failed", "cancelled", "approved", "rejected", "expired"
]


class TaskAnswer(Answer, frozen=True):
    """`owner` is the subject that has it in hand, or had it last.

    `nextAt`: when a pending one is due, or the lease of a claimed one ends; null when it is over.
    """

    task_id: str
    kind: TaskKindName
    queue: str
    status: TaskStatusName
    payload: Any
    result: Any
    error: Any
    owner: str | None
    fence: int
    attempts: int
    session_id: str | None
    due_at: str
    next_at: str | None
    deadline: str | None
    created_at: str
    created_by: str
    decided_by: str | None
    comment: str | None
    ended_at: str | None
    retain_until: str | None


class OpenTask(Answer, frozen=True):
    """A task that is not over, without its payload and what came of it. `owner` and `nextAt` as in a task."""

    task_id: str
    kind: TaskKindName
    queue: str
    status: TaskStatusName
    owner: str | None
    fence: int
    attempts: int
    due_at: str
    next_at: str
    deadline: str | None
    created_at: str
    created_by: str


class CompletedTaskAnswer(TaskAnswer, frozen=True):
    """`next`: the ids of the tasks that were created with it, in their order."""

    next: list[str]


class TaskPage(Answer, frozen=True):
    items: list[TaskAnswer]
    next_cursor: str | None


class ClaimedTasks(Answer, frozen=True):
    """Fewer than were asked for, or none, where no more are due."""

    items: list[TaskAnswer]


def task_answer(task: Task) -> TaskAnswer:
    return TaskAnswer(**_fields(task))


def open_task(task: Task) -> OpenTask:
    return OpenTask(
        task_id=task.task_id,
        kind=task.kind.value,
        queue=task.queue,
        status=task.status.value,
        owner=task.worker,
        fence=task.fence,
        attempts=task.attempts,
        due_at=iso(task.due_at),
        next_at=iso(task.next_at),
        deadline=_iso(task.deadline_ms),
        created_at=iso(task.created_at),
        created_by=task.requester,
    )


def completed_answer(completed: CompletedTask) -> CompletedTaskAnswer:
    return CompletedTaskAnswer(**_fields(completed.task), next=list(completed.following))


def _fields(task: Task) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "kind": task.kind.value,
        "queue": task.queue,
        "status": task.status.value,
        "payload": task.payload,
        "result": task.result,
        "error": task.error,
        "owner": task.worker,
        "fence": task.fence,
        "attempts": task.attempts,
        "session_id": task.session_id,
        "due_at": iso(task.due_at),
        "next_at": None if task.is_settled else iso(task.next_at),
        "deadline": _iso(task.deadline_ms),
        "created_at": iso(task.created_at),
        "created_by": task.requester,
        "decided_by": task.decided_by,
        "comment": task.comment,
        "ended_at": _iso(task.ended_at),
        "retain_until": None if task.ttl is None else iso(task.ttl * MILLIS),
    }


def _iso(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)
