"""``/tasks``: work that waits in queues, and approvals. Functions as in ``session_calls``.

Whoever claims a task is given a ``fence``, and shows it with every step. ``lease_seconds`` is 1 to 3600.
Times are ISO 8601 with a zone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from session_store_client.answers import (
    ClaimedTasks,
    CompletedTask,
    Page,
    Task,
    TaskKindName,
    TaskStatusName,
)
from session_store_client.calls import Call, Repeat, given, parameters, read, task_path


def create_task(
    *,
    queue: str,
    payload: Any,  # noqa: ANN401 - any JSON value
    kind: TaskKindName | None = None,
    due_at: str | None = None,
    deadline: str | None = None,
    session_id: str | None = None,
    retain_days: int | None = None,
) -> Call[Task]:
    """Put a task into its queue, or ask for an approval, which needs a caller with a subject.

    Without ``due_at`` it is due at once. ``session_id``: one of the caller's own sessions. ``retain_days``:
    how long it stays when it is over. Sent again under its key it is made once; a key is of the region that
    it is sent to.
    """
    optional = given(kind=kind, dueAt=due_at, deadline=deadline, sessionId=session_id, retainDays=retain_days)
    body = {"queue": queue, "payload": payload, **optional}
    return Call(method="POST", path="/tasks", answer=Task, body=body, repeat=Repeat.RECOGNISED, keyed=True)


def list_tasks(
    *,
    queue: str | None = None,
    status: TaskStatusName | None = None,
    kind: TaskKindName | None = None,
    session_id: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Task]]:
    """Tasks of the caller's tenant, by queue, the soonest first; open ones alone where no status is named."""
    query = parameters(
        queue=queue, status=status, kind=kind, sessionId=session_id, limit=limit, cursor=cursor
    )
    return read("/tasks", Page[Task], query=query)


def get_task(task_id: str) -> Call[Task]:
    """A task as it is now."""
    return read(task_path(task_id), Task)


def claim_tasks(*, queue: str, lease_seconds: int, max_tasks: int | None = None) -> Call[ClaimedTasks]:
    """Take up to ``max_tasks`` tasks that are due, one where it is not given; none may be.

    Not sent again after a lost answer: it would take others. What the lost one took is due again when its
    lease is over.
    """
    body = {"queue": queue, "leaseSeconds": lease_seconds, **given(max=max_tasks)}
    return Call(method="POST", path="/tasks/claim", answer=ClaimedTasks, body=body, repeat=Repeat.NEVER)


def extend_task(task_id: str, *, fence: int, lease_seconds: int) -> Call[Task]:
    """Hold a task for ``lease_seconds`` from now. ``FencedError``: another has it, or it is over."""
    body = {"fence": fence, "leaseSeconds": lease_seconds}
    return _step(task_id, "heartbeat", Task, body, Repeat.FREELY)


def complete_task(
    task_id: str,
    *,
    fence: int,
    result: Any,  # noqa: ANN401 - any JSON value
    following: Sequence[Mapping[str, Any]] = (),
) -> Call[CompletedTask]:
    """Complete a task, and create those that follow it, all or nothing; each as the contract's body of one.

    The same again is a success, and creates none. ``FencedError``: another has taken it.
    """
    body = {"fence": fence, "result": result, "next": following}
    return _step(task_id, "complete", CompletedTask, body, Repeat.RECOGNISED)


def fail_task(
    task_id: str,
    *,
    fence: int,
    error: Any,  # noqa: ANN401 - any JSON value
    retry_in_seconds: int | None = None,
) -> Call[Task]:
    """Give a task back: due again after a pause, which grows where it is not given; failed the fifth time.

    Sent again after a lost answer; that another has taken the task by then tells nothing of the first
    sending, and is an ``OutcomeUnknownError``.
    """
    body = {"fence": fence, "error": error, **given(retryInSeconds=retry_in_seconds)}
    return _step(task_id, "fail", Task, body, Repeat.GUARDED)


def cancel_task(task_id: str) -> Call[Task]:
    """Withdraw a task, or an approval that the caller asked for; that it is withdrawn already is success."""
    return _step(task_id, "cancel", Task, None, Repeat.RECOGNISED)


def decide_task(
    task_id: str, *, decision: Literal["approved", "rejected"], comment: str | None = None
) -> Call[Task]:
    """Approve or reject; that it is decided so already is success, else ``AlreadyDecidedError``."""
    body = {"decision": decision, **given(comment=comment)}
    return _step(task_id, "decide", Task, body, Repeat.RECOGNISED)


def _step(
    task_id: str, step: str, answer: type[Any], body: Mapping[str, object] | None, repeat: Repeat
) -> Call[Any]:
    path = f"{task_path(task_id)}/{step}"
    return Call(method="POST", path=path, answer=answer, body=body, repeat=repeat)
