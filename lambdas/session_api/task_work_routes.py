"""Task work: tasks claimed from a queue, held, and ended by workers."""

from typing import Final

from session_api import problems
from session_api.lease_bodies import Heartbeat
from session_api.operations import Reply, operation
from session_api.paths import TASK, TASKS
from session_api.requests import Request
from session_api.task_answers import (
    ClaimedTasks,
    CompletedTaskAnswer,
    TaskAnswer,
    completed_answer,
    task_answer,
)
from session_api.task_bodies import ClaimTasks, CompleteTask, FailTask, new_tasks
from session_store.metric_names import Metric

WORK_PROBLEMS: Final = (
    problems.NOT_FOUND,
    problems.MISDIRECTED,
    problems.OUTCOME_UNKNOWN,
    problems.FENCED,
)
END_PROBLEMS: Final = (*WORK_PROBLEMS, problems.MISMATCH)


@operation(
    "POST",
    f"{TASKS}/claim",
    body=ClaimTasks,
    answer=ClaimedTasks,
    refusals=(problems.OUTCOME_UNKNOWN,),
    counts=Metric.TASKS_CLAIMED,
)
def claim_tasks(request: Request[ClaimTasks]) -> Reply:
    """Claim tasks of a queue that are due.

    No other worker gets them until their leases expire. Tasks are delivered at least once, up to 5 times, in
    roughly the order in which they are due; a task whose lease expired is due again. An empty list means that
    nothing is due.

    Needs the worker permission. If the response is lost, the tasks that it claimed are due again when their
    leases expire.
    """
    body = request.body
    claimed = request.store.task_work.claim(
        request.caller, queue=body.queue, lease_seconds=body.lease_seconds, most=body.max
    )
    return Reply(value=ClaimedTasks(items=[task_answer(task) for task in claimed]), performed=len(claimed))


@operation("POST", f"{TASK}/heartbeat", body=Heartbeat, answer=TaskAnswer, refusals=WORK_PROBLEMS)
def extend_task(request: Request[Heartbeat]) -> Reply:
    """Extend the lease of a claimed task.

    The lease lasts `leaseSeconds` from now; one that already lasts longer is not shortened. Needs the worker
    permission. 409 `fenced`: another worker has claimed the task, or it is over; stop working on it.
    """
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
def complete_task(request: Request[CompleteTask]) -> Reply:
    """Complete a task, and create the tasks that follow it, in one transaction.

    Needs the worker permission. The same body again is a success and creates nothing. Another result is
    refused: 422 from the attempt that completed the task, 409 `fenced` from a stale holder.
    """
    completed = request.store.task_work.complete(
        request.caller,
        request.path["taskId"],
        fence=request.body.fence,
        result=request.body.result,
        following=new_tasks(request.body.next, "$.next"),
    )
    return Reply(
        value=completed_answer(completed),
        performed=int(not completed.replayed),
        replayed=int(completed.replayed),
    )


@operation("POST", f"{TASK}/fail", body=FailTask, answer=TaskAnswer, refusals=END_PROBLEMS)
def fail_task(request: Request[FailTask]) -> Reply:
    """End an attempt at a task that failed.

    The task is due again after a pause, or has failed for good if this was its fifth attempt. Needs the
    worker permission. The same body again is a success until the task is next claimed or its deadline passes.
    """
    step = request.store.task_work.fail(
        request.caller,
        request.path["taskId"],
        fence=request.body.fence,
        error=request.body.error,
        retry_in=request.body.retry_in_seconds,
    )
    return Reply(value=task_answer(step.claim), replayed=int(step.replayed))
