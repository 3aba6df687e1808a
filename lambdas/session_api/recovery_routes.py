"""``/sessions/{sessionId}/recovery``"""

from session_api import problems
from session_api.checkpoint_routes import NAMESPACE, namespace_of
from session_api.operations import Reply, operation
from session_api.recovery_answers import RecoveryAnswer, recovery_answer
from session_api.requests import Request


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
        request.caller, request.session_id, namespace=namespace_of(request), min_version=request.min_version
    )
    return Reply(value=recovery_answer(found))
