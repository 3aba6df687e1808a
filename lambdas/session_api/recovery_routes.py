"""Recovery: what a worker needs that takes a session over."""

from session_api import problems
from session_api.lists import NAMESPACE, requested_namespace
from session_api.operations import Reply, operation
from session_api.paths import RECOVERY
from session_api.recovery_answers import RecoveryAnswer, recovery_answer
from session_api.requests import Request


@operation(
    "GET",
    RECOVERY,
    answer=RecoveryAnswer,
    query=(NAMESPACE,),
    refusals=(problems.SESSION_NOT_FOUND, problems.MISDIRECTED, problems.PAYLOAD_MISSING),
)
def get_recovery(request: Request[None]) -> Reply:
    """Read what a session has in flight, and the newest checkpoint to resume from.

    For a worker that takes over after a crash: begin the calls in flight again once their leases have
    expired, reconcile those whose outcome is unknown, resume from the checkpoint. Tool calls and checkpoint
    are read consistently. `more` says whether there are more calls or tasks than the answer has.
    """
    found = request.store.recovery.find(
        request.caller,
        request.session_id,
        namespace=requested_namespace(request),
        min_version=request.min_version,
    )
    return Reply(value=recovery_answer(found))
