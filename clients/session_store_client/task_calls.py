"""``/tasks``: tasks in queues, and approvals. Functions as in ``session_calls``.

``claim_tasks`` gives a worker a lease and a ``fence``; every later step passes the fence. ``lease_seconds``
is 1 to 3600. Times are ISO 8601 with a zone.
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
    """Put a task into a queue, or ask for an approval (``kind="approval"``), which needs a subject.

    ``due_at``: when it may be claimed (default: now). ``deadline``: when it fails, or an approval expires, if
    still pending; without ``due_at`` it must be in the future. ``session_id``: one of the caller's own
    sessions. ``retain_days``: how long it stays readable after its end, 1 to 3650 (default 90).

    Retried under one ``Idempotency-Key`` a call, so a lost response creates no second task; a second call
    creates another one. The key is scoped to the region that the call is sent to.

    Raises:
        SessionNotFoundError: ``session_id`` names no session of the caller's.
        ForbiddenError: an approval without a subject.
        PayloadTooLargeError: the payload exceeds the limit.
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
    """List tasks of the caller's tenant: by queue, soonest first; those of a session by creation.

    Without ``status`` only open ones. ``limit``: tasks a page, 1 to 100 (default 20). Safe to repeat.
    """
    query = parameters(
        queue=queue, status=status, kind=kind, sessionId=session_id, limit=limit, cursor=cursor
    )
    return read("/tasks", Page[Task], query=query)


def get_task(task_id: str) -> Call[Task]:
    """Read a task or an approval. Safe to repeat.

    Raises:
        NotFoundError: the tenant has no such task.
    """
    return read(task_path(task_id), Task)


def claim_tasks(*, queue: str, lease_seconds: int, max_tasks: int | None = None) -> Call[ClaimedTasks]:
    """Claim up to ``max_tasks`` due tasks of a queue, 1 to 10 (default 1); the answer may be empty.

    Not retried after a lost response, since a second attempt would claim other tasks. What the lost one
    claimed is due again when its lease expires.

    Raises:
        ForbiddenError: the caller lacks the worker permission.
        OutcomeUnknownError: tasks may have been claimed.
    """
    body = {"queue": queue, "leaseSeconds": lease_seconds, **given(max=max_tasks)}
    return Call(method="POST", path="/tasks/claim", answer=ClaimedTasks, body=body, repeat=Repeat.NEVER)


def extend_task(task_id: str, *, fence: int, lease_seconds: int) -> Call[Task]:
    """Extend the lease of a claimed task to ``lease_seconds`` from now. Safe to repeat.

    Raises:
        ForbiddenError: the caller lacks the worker permission.
        FencedError: another worker has claimed it, or it has ended: stop working on it.
        NotFoundError: the tenant has no such task.
    """
    body = {"fence": fence, "leaseSeconds": lease_seconds}
    return _step(task_id, "heartbeat", Task, body, Repeat.IDEMPOTENT)


def complete_task(
    task_id: str,
    *,
    fence: int,
    result: Any,  # noqa: ANN401 - any JSON value
    following: Sequence[Mapping[str, Any]] = (),
) -> Call[CompletedTask]:
    """Complete a claimed task and create those that follow it, in one transaction.

    ``following``: up to 25 bodies of ``POST /tasks``, named as in ``docs/openapi.json``; they belong to this
    task's session unless they name another. Safe to repeat with the same arguments: nothing is created twice.

    Raises:
        ForbiddenError: the caller lacks the worker permission.
        FencedError: another worker has claimed it, or it has ended otherwise: stop working on it.
        IdempotencyMismatchError: it was completed before with another result.
        NotFoundError: the tenant has no such task.
        PayloadTooLargeError: payload and result exceed the limit.
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
    """Give a claimed task back, to be due again in ``retry_in_seconds``; the fifth time it has failed.

    Without ``retry_in_seconds`` the pause grows from attempt to attempt.

    Retried after a lost response. That another worker has claimed the task by then proves nothing about the
    first attempt, so it is raised as ``OutcomeUnknownError``.

    Raises:
        ForbiddenError: the caller lacks the worker permission.
        FencedError: another worker has claimed it, or it has ended: stop working on it.
        IdempotencyMismatchError: this attempt was given back before with another error.
        NotFoundError: the tenant has no such task.
    """
    body = {"fence": fence, "error": error, **given(retryInSeconds=retry_in_seconds)}
    return _step(task_id, "fail", Task, body, Repeat.CONDITIONAL)


def cancel_task(task_id: str) -> Call[Task]:
    """Cancel a task, or an approval that the caller asked for. Safe to repeat.

    Raises:
        InvalidTransitionError: it has ended already.
        ForbiddenError: the approval was asked for by another subject.
        NotFoundError: the tenant has no such task.
    """
    return _step(task_id, "cancel", Task, None, Repeat.RECOGNISED)


def decide_task(
    task_id: str, *, decision: Literal["approved", "rejected"], comment: str | None = None
) -> Call[Task]:
    """Approve or reject an approval. Safe to repeat: the same decision again is a success.

    Raises:
        AlreadyDecidedError: it is decided the other way, cancelled or past its deadline.
        ForbiddenError: the caller lacks the approver permission or a subject, or asked for it.
        NotFoundError: the tenant has no such approval.
    """
    body = {"decision": decision, **given(comment=comment)}
    return _step(task_id, "decide", Task, body, Repeat.RECOGNISED)


def _step(
    task_id: str, step: str, answer: type[Any], body: Mapping[str, object] | None, repeat: Repeat
) -> Call[Any]:
    path = f"{task_path(task_id)}/{step}"
    return Call(method="POST", path=path, answer=answer, body=body, repeat=repeat)
