"""``/tasks``: work that waits in queues, and approvals"""

from typing import Final

from session_api import problems
from session_api.bodies import Heartbeat
from session_api.cursors import encode_cursor
from session_api.lists import PAGED, page_request
from session_api.operations import Parameter, Reply, operation
from session_api.requests import REPLAYED, Request
from session_api.task_answers import (
    ClaimedTasks,
    CompletedTaskAnswer,
    TaskAnswer,
    TaskPage,
    completed_answer,
    task_answer,
)
from session_api.task_bodies import (
    ClaimTasks,
    CompleteTask,
    CreateTask,
    DecideApproval,
    FailTask,
    meanings,
)
from session_store.domain.identifiers import IDENTIFIER_PATTERN, MAX_IDENTIFIER, SESSION_ID_PATTERN
from session_store.domain.page import TaskPosition
from session_store.domain.task import TaskKind, TaskStatus
from session_store.domain.task_writes import TaskFilter
from session_store.metric_names import Metric

KINDS: Final = [kind.value for kind in TaskKind]
STATUSES: Final = [status.value for status in TaskStatus]
TASKS: Final = "/tasks"
TASK: Final = "/tasks/{taskId}"
WRITE_PROBLEMS: Final = (problems.NOT_FOUND, problems.MISDIRECTED, problems.OUTCOME_UNKNOWN)
WORK_PROBLEMS: Final = (*WRITE_PROBLEMS, problems.FENCED)
END_PROBLEMS: Final = (*WORK_PROBLEMS, problems.MISMATCH, problems.TOO_LARGE)


@operation(
    "POST",
    TASKS,
    body=CreateTask,
    answer=TaskAnswer,
    statuses=(201,),
    refusals=(
        problems.SESSION_NOT_FOUND,
        problems.MISDIRECTED,
        problems.TOO_LARGE,
        problems.OUTCOME_UNKNOWN,
    ),
    counts=Metric.TASKS_CREATED,
    keyed=True,
)
def create_task(request: Request) -> Reply:
    """Put a task into its queue, or ask for an approval.

    A session that it names must be the caller's. An approval needs a named subject that asks for it.
    With an `Idempotency-Key` the same body again is answered with the task as it was made. A key is
    of the region that it is sent to.
    """
    new = request.body.to_domain()
    if request.key is None:
        return Reply(value=task_answer(request.store.tasks.create(request.caller, new)), status=201)
    once = request.store.keyed_tasks.create(request.caller, new, key=request.key)
    return Reply(
        value=task_answer(once.task),
        status=201,
        headers={REPLAYED: "true"} if once.replayed else {},
        done=int(not once.replayed),
        replayed=int(once.replayed),
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
            description="Only tasks of this queue; without it, of all the tenant's.",
        ),
        Parameter(
            name="status",
            schema={"type": "string", "enum": STATUSES},
            description="Only tasks of this status; without it, those that are open: pending or claimed.",
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
        *PAGED,
    ),
)
def list_tasks(request: Request) -> Reply:
    """List the tenant's tasks: by queue, the soonest first; those of a session by creation.

    Open tasks come before open approvals. Without `status` what is over is not shown.
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
    page = request.store.tasks.list(request.caller, wanted, page_request(request, TaskPosition, query=query))
    items = [task_answer(task) for task in page.items]
    return Reply(value=TaskPage(items=items, next_cursor=encode_cursor(page.next, query=query)))


@operation("GET", TASK, answer=TaskAnswer, refusals=(problems.NOT_FOUND,))
def get_task(request: Request) -> Reply:
    """Read a task."""
    return Reply(value=task_answer(request.store.tasks.get(request.caller, request.path["taskId"])))


@operation(
    "POST",
    f"{TASKS}/claim",
    body=ClaimTasks,
    answer=ClaimedTasks,
    refusals=(problems.OUTCOME_UNKNOWN,),
    counts=Metric.TASKS_CLAIMED,
)
def claim_tasks(request: Request) -> Reply:
    """Take tasks that are due: nobody else has them until their leases are over.

    Needs the worker permission. An answer that is lost leaves what it took to whoever comes after the lease.
    """
    body = request.body
    found = request.store.task_work.claim(
        request.caller, queue=body.queue, lease_seconds=body.lease_seconds, most=body.max
    )
    return Reply(value=ClaimedTasks(items=[task_answer(task) for task in found]), done=len(found))


@operation(
    "POST",
    f"{TASK}/heartbeat",
    body=Heartbeat,
    answer=TaskAnswer,
    refusals=WORK_PROBLEMS,
)
def extend_task(request: Request) -> Reply:
    """Hold a task for longer. Needs the worker permission."""
    task = request.store.task_work.heartbeat(
        request.caller,
        request.path["taskId"],
        fence=request.body.fence,
        lease_seconds=request.body.lease_seconds,
    )
    return Reply(value=task_answer(task))


@operation(
    "POST",
    f"{TASK}/complete",
    body=CompleteTask,
    answer=CompletedTaskAnswer,
    refusals=(*END_PROBLEMS, problems.SESSION_NOT_FOUND),
    counts=Metric.TASKS_COMPLETED,
)
def complete_task(request: Request) -> Reply:
    """Complete a task, and create those that follow it, in one transaction.

    Needs the worker permission. The same again is a success, and creates none. Those that follow are
    in its session, unless they name another one of the caller's.
    """
    completed = request.store.task_work.complete(
        request.caller,
        request.path["taskId"],
        fence=request.body.fence,
        result=request.body.result,
        following=meanings(request.body.next, "$.next"),
    )
    return Reply(
        value=completed_answer(completed), done=int(not completed.replayed), replayed=int(completed.replayed)
    )


@operation("POST", f"{TASK}/fail", body=FailTask, answer=TaskAnswer, refusals=END_PROBLEMS)
def fail_task(request: Request) -> Reply:
    """Give a task back: it is due again after a pause, or has failed, the fifth time.

    Needs the worker permission. The same again is a success until somebody takes it.
    """
    step = request.store.task_work.fail(
        request.caller,
        request.path["taskId"],
        fence=request.body.fence,
        error=request.body.error,
        retry_in=request.body.retry_in_seconds,
    )
    return Reply(value=task_answer(step.claim), replayed=int(step.replayed))


@operation(
    "POST",
    f"{TASK}/cancel",
    answer=TaskAnswer,
    refusals=(*WRITE_PROBLEMS, problems.INVALID_TRANSITION),
)
def cancel_task(request: Request) -> Reply:
    """Withdraw a task: nobody takes or decides it any more. An approval's requester alone withdraws it.

    Being withdrawn already is success. Who has it in hand learns it at the next step, by a 409 `fenced`.
    """
    return Reply(value=task_answer(request.store.tasks.cancel(request.caller, request.path["taskId"])))


@operation(
    "POST",
    f"{TASK}/decide",
    body=DecideApproval,
    answer=TaskAnswer,
    refusals=(*WRITE_PROBLEMS, problems.ALREADY_DECIDED),
    counts=Metric.APPROVALS_DECIDED,
)
def decide_task(request: Request) -> Reply:
    """Approve or reject. Needs the approver permission and a named subject, not the one that asked for it.

    Decided so already, by whomever, is success; the other way, withdrawn or too late is a 409.
    """
    step = request.store.approvals.decide(
        request.caller,
        request.path["taskId"],
        decision=request.body.status(),
        comment=request.body.comment,
    )
    return Reply(value=task_answer(step.claim), done=int(not step.replayed), replayed=int(step.replayed))
