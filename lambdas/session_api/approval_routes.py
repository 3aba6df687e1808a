"""Approvals: decided by approvers, never by the subject that requested them."""

from session_api import problems
from session_api.operations import Reply, operation
from session_api.paths import TASK
from session_api.requests import Request
from session_api.task_answers import TaskAnswer, task_answer
from session_api.task_bodies import DecideApproval
from session_store.metric_names import Metric


@operation(
    "POST",
    f"{TASK}/decide",
    body=DecideApproval,
    answer=TaskAnswer,
    refusals=(
        problems.NOT_FOUND,
        problems.MISDIRECTED,
        problems.OUTCOME_UNKNOWN,
        problems.ALREADY_DECIDED,
    ),
    counts=Metric.APPROVALS_DECIDED,
)
def decide_task(request: Request[DecideApproval]) -> Reply:
    """Approve or reject an approval.

    The decision is audited in the same transaction. Needs the approver permission and a named subject other
    than the one that requested the approval (403). The same decision again is a success, by any approver; an
    approval that was decided the other way, cancelled, or is past its deadline is refused (409
    `already-decided`).
    """
    step = request.store.approvals.decide(
        request.caller,
        request.path["taskId"],
        decision=request.body.status(),
        comment=request.body.comment,
    )
    return Reply(value=task_answer(step.claim), performed=int(not step.replayed), replayed=int(step.replayed))
