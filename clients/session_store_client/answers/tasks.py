"""Tasks and approvals."""

from typing import Any, Literal

from session_store_client.answers.base import Answer

TaskKindName = Literal["task", "approval"]
TaskStatusName = Literal[
    "pending", "claimed", "completed", "failed", "cancelled", "approved", "rejected", "expired"
]


class Task(Answer, frozen=True):
    """A task or an approval.

    ``owner``: the subject that holds it, or held it last. ``next_at``: when a pending task is due, or when
    the lease of a claimed one expires; None once it has ended.
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


class CompletedTask(Task, frozen=True):
    """``next``: the ids of the tasks created with the completion, in order."""

    next: tuple[str, ...]


class ClaimedTasks(Answer, frozen=True):
    """Fewer tasks than asked for, or none, when no more are due."""

    items: tuple[Task, ...]


class OpenTask(Answer, frozen=True):
    """A task that has not ended, without payload, result and error."""

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
