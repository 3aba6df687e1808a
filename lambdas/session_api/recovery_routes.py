"""``/sessions/{sessionId}/recovery``"""

from session_api import problems
from session_api.answers import Answer, CheckpointAnswer, checkpoint_answer
from session_api.checkpoint_routes import NAMESPACE, namespace_of
from session_api.claim_answers import OpenCall, open_call
from session_api.operations import Reply, operation
from session_api.requests import Request
from session_api.task_answers import OpenTask, open_task


class RecoveryAnswer(Answer, frozen=True):
    """`inFlight`: being run, or to be begun again. `outcomeUnknown`: to be reconciled first.

    `openTasks` come from an index: what has just changed may be missing for a moment.
    """

    in_flight: list[OpenCall]
    outcome_unknown: list[OpenCall]
    open_tasks: list[OpenTask]
    checkpoint: CheckpointAnswer | None


@operation(
    "GET",
    "/sessions/{sessionId}/recovery",
    answer=RecoveryAnswer,
    query=(NAMESPACE,),
    refusals=(problems.SESSION_NOT_FOUND, problems.MISDIRECTED, problems.PAYLOAD_MISSING),
)
def get_recovery(request: Request) -> Reply:
    """Find what a session has in flight and how far it came, to go on with as another worker."""
    found = request.store.recovery.find(
        request.caller, request.session_id, namespace=namespace_of(request), at_least=request.at_least
    )
    newest = found.checkpoint
    return Reply(
        value=RecoveryAnswer(
            in_flight=[open_call(claim) for claim in found.in_flight],
            outcome_unknown=[open_call(claim) for claim in found.outcome_unknown],
            open_tasks=[open_task(task) for task in found.open_tasks],
            checkpoint=None if newest is None else checkpoint_answer(newest),
        )
    )
