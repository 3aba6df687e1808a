"""Response bodies about tasks and approvals."""

from typing import Any, Literal

from session_api.answers import Answer, iso_of_seconds, iso_or_none
from session_store.domain.task import Task
from session_store.domain.times import iso
from session_store.services.tasks.work import CompletedTask

TaskKindName = Literal["task", "approval"]
TaskStatusName = Literal[
    "pending", "claimed", "completed", "failed", "cancelled", "approved", "rejected", "expired"
]


class TaskAnswer(Answer, frozen=True):
    """A task that waits in a queue or is being worked on, or an approval that waits for a decision."""

    task_id: str
    """Minted by the store, never reused."""

    kind: TaskKindName
    """Whether it is work for a worker or a question to an approver."""

    queue: str
    """The queue within the tenant."""

    status: TaskStatusName
    """`pending` and `claimed` are open, all others final. A claimed task whose lease has expired may be
    claimed again."""

    payload: Any
    """Any JSON value, as it was created."""

    result: Any
    """What the work returned; null unless `completed`."""

    error: Any
    """How the last failed attempt ended; of a task that the store failed, `{"reason": "deadline-passed"}` or
    `{"reason": "last-lease-over"}`."""

    owner: str | None
    """The subject that holds the task, or held it last; null before the first claim."""

    fence: int
    """The fencing token of the current attempt; 0 before the first claim."""

    attempts: int
    """How often the task has been claimed, of at most 5 times."""

    session_id: str | None
    """The session that the task belongs to, if any."""

    due_at: str
    """When the task may first be claimed."""

    next_at: str | None
    """When a pending task is due, or the lease of a claimed one expires; null once the task is over."""

    deadline: str | None
    """When the task fails, or the approval expires, if it is still pending; null: never."""

    created_at: str
    """When the task was created."""

    created_by: str
    """The subject that created the task."""

    decided_by: str | None
    """The subject that decided the approval."""

    comment: str | None
    """The comment that came with the decision."""

    ended_at: str | None
    """When the task was over; null while it is open."""

    retain_until: str | None
    """When the task is erased; null while it is open."""


class OpenTask(Answer, frozen=True):
    """A task that is open, without its payload, result and error."""

    task_id: str
    """The task's id."""

    kind: TaskKindName
    """Whether it is work for a worker or a question to an approver."""

    queue: str
    """The queue within the tenant."""

    status: TaskStatusName
    """`pending` or `claimed`."""

    owner: str | None
    """The subject that holds the task, or held it last; null before the first claim."""

    fence: int
    """The fencing token of the current attempt; 0 before the first claim."""

    attempts: int
    """How often the task has been claimed, of at most 5 times."""

    due_at: str
    """When the task may first be claimed."""

    next_at: str
    """When a pending task is due, or the lease of a claimed one expires."""

    deadline: str | None
    """When the task fails, or the approval expires, if it is still pending; null: never."""

    created_at: str
    """When the task was created."""

    created_by: str
    """The subject that created the task."""


class CompletedTaskAnswer(TaskAnswer, frozen=True):
    """The task with its result, and the tasks created with it."""

    next: list[str]
    """The ids of the tasks created with it, in the order of the request."""


class TaskPage(Answer, frozen=True):
    """A page of the tenant's tasks."""

    items: list[TaskAnswer]
    """Possibly fewer than the limit, also before the last page."""

    next_cursor: str | None
    """The `cursor` of the next page; null at the end of the list."""


class ClaimedTasks(Answer, frozen=True):
    """The tasks that the caller now holds."""

    items: list[TaskAnswer]
    """Fewer than asked for, or none, if no more are due, payloads are large, or many lapsed tasks precede."""


def task_answer(task: Task) -> TaskAnswer:
    return TaskAnswer(**_task_fields(task))


def open_task_answer(task: Task) -> OpenTask:
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
        deadline=iso_or_none(task.deadline_ms),
        created_at=iso(task.created_at),
        created_by=task.requester,
    )


def completed_answer(completed: CompletedTask) -> CompletedTaskAnswer:
    return CompletedTaskAnswer(**_task_fields(completed.task), next=list(completed.following))


def _task_fields(task: Task) -> dict[str, Any]:
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
        "deadline": iso_or_none(task.deadline_ms),
        "created_at": iso(task.created_at),
        "created_by": task.requester,
        "decided_by": task.decided_by,
        "comment": task.comment,
        "ended_at": iso_or_none(task.ended_at),
        "retain_until": None if task.ttl is None else iso_of_seconds(task.ttl),
    }
