"""Tasks: work that waits in the queues of a tenant, and requests for approval."""

from typing import Final

from session_api import problems
from session_api.cursors import encode_cursor
from session_api.lists import PAGING, requested_page
from session_api.operations import Parameter, Reply, operation, replay_header
from session_api.paths import TASK, TASKS
from session_api.requests import Request
from session_api.task_answers import TaskAnswer, TaskPage, task_answer
from session_api.task_bodies import CreateTask
from session_store.domain.identifiers import IDENTIFIER_PATTERN, MAX_IDENTIFIER, SESSION_ID_PATTERN
from session_store.domain.page import TaskPosition
from session_store.domain.task import Task, TaskKind, TaskStatus
from session_store.domain.task_writes import TaskFilter
from session_store.metric_names import Metric

KINDS: Final = [kind.value for kind in TaskKind]
STATUSES: Final = [status.value for status in TaskStatus]


@operation(
    "POST",
    TASKS,
    body=CreateTask,
    answer=TaskAnswer,
    statuses=(201,),
    refusals=(
        problems.SESSION_NOT_FOUND,
        problems.MISDIRECTED,
        problems.OUTCOME_UNKNOWN,
    ),
    counts=Metric.TASKS_CREATED,
    keyed=True,
)
def create_task(request: Request[CreateTask]) -> Reply:
    """Put a task into a queue, or ask for an approval.

    A task waits until a worker claims it; an approval waits until an approver decides it, and must be
    requested by a named subject (403). Every caller of the tenant can read both. A session that is named must
    be the caller's own.

    Every call creates another task, unless it carries an `Idempotency-Key`: the same body under the same key
    is answered with the task as it was created, and another body is refused (422). Each region has its own
    keys.
    """
    new = request.body.to_domain()
    if request.key is None:
        return _created_reply(request.store.tasks.create(request.caller, new))
    once = request.store.keyed_tasks.create(request.caller, new, key=request.key)
    return _created_reply(once.task, replayed=once.replayed)


def _created_reply(task: Task, *, replayed: bool = False) -> Reply:
    return Reply(
        value=task_answer(task),
        status=201,
        headers=replay_header(replayed=replayed),
        performed=int(not replayed),
        replayed=int(replayed),
    )


@operation(
    "GET",
    TASKS,
    answer=TaskPage,
    query=(
        Parameter(
            name="queue",
            schema={
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_IDENTIFIER,
                "pattern": IDENTIFIER_PATTERN,
            },
            description="Only tasks of this queue; absent: of all of the tenant's queues.",
        ),
        Parameter(
            name="status",
            schema={"type": "string", "enum": STATUSES},
            description="Only tasks in this status; absent: open ones, which are pending or claimed.",
        ),
        Parameter(
            name="kind",
            schema={"type": "string", "enum": KINDS},
            description="Only tasks, or only approvals.",
        ),
        Parameter(
            name="sessionId",
            schema={"type": "string", "pattern": SESSION_ID_PATTERN},
            description="Only tasks of this session.",
        ),
        *PAGING,
    ),
)
def list_tasks(request: Request[None]) -> Reply:
    """List the tenant's tasks: those of queues soonest first, those of a session in the order of creation.

    Open tasks come before open approvals. Without `status`, tasks that are over are left out. Indexes serve
    the list, so what has just changed may be missing for a moment.
    """
    queue, session_id = request.query.text("queue"), request.query.text("sessionId")
    status, kind = request.query.choice("status", STATUSES), request.query.choice("kind", KINDS)
    query = {"list": "tasks", "queue": queue, "status": status, "kind": kind, "session": session_id}
    wanted = TaskFilter(
        queue=queue,
        status=TaskStatus(status) if status else None,
        kind=TaskKind(kind) if kind else None,
        session_id=session_id,
    )
    page = request.store.tasks.list(
        request.caller, wanted, requested_page(request, TaskPosition, query=query)
    )
    items = [task_answer(task) for task in page.items]
    return Reply(value=TaskPage(items=items, next_cursor=encode_cursor(page.next, query=query)))


@operation("GET", TASK, answer=TaskAnswer, refusals=(problems.NOT_FOUND,))
def get_task(request: Request[None]) -> Reply:
    """Read a task or an approval of the tenant's."""
    return Reply(value=task_answer(request.store.tasks.get(request.caller, request.path["taskId"])))


@operation(
    "POST",
    f"{TASK}/cancel",
    answer=TaskAnswer,
    refusals=(
        problems.NOT_FOUND,
        problems.MISDIRECTED,
        problems.OUTCOME_UNKNOWN,
        problems.INVALID_TRANSITION,
    ),
)
def cancel_task(request: Request[None]) -> Reply:
    """Cancel a task or an approval that is open.

    It can no longer be claimed or decided, and a worker that holds it is refused at its next step (409
    `fenced`). Only the subject that requested an approval may cancel it (403). Cancelling again is a success;
    a task that is over otherwise is refused (409 `invalid-transition`).
    """
    return Reply(value=task_answer(request.store.tasks.cancel(request.caller, request.path["taskId"])))
