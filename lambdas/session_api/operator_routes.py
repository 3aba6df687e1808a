"""``/ops`` and ``/health``"""

from typing import Final

from session_api.answers import DrainAnswer, ExpiringPage, HealthAnswer, expiring_answer
from session_api.bodies import DrainSessions
from session_api.cursors import encode_cursor
from session_api.lists import PAGED, page_request
from session_api.operations import Parameter, Reply, operation
from session_api.requests import Request
from session_api.session_routes import STATUSES
from session_store.domain.page import ExpiringPosition
from session_store.domain.session import Status
from session_store.domain.window import LONGEST_LIFE

WITHIN: Final = 900


@operation(
    "GET",
    "/ops/expiring",
    answer=ExpiringPage,
    query=(
        Parameter(
            name="withinSeconds",
            schema={"type": "integer", "minimum": 1, "maximum": LONGEST_LIFE, "default": WITHIN},
            description="How soon the sessions end, in seconds.",
        ),
        Parameter(
            name="status",
            schema={"type": "string", "enum": STATUSES, "default": "active"},
            description="Only sessions of this status.",
        ),
        *PAGED,
    ),
)
def list_expiring(request: Request) -> Reply:
    """List sessions of every tenant that are about to end, soonest first."""
    within = request.query.whole("withinSeconds", default=WITHIN, low=1, high=LONGEST_LIFE)
    status = request.query.choice("status", STATUSES) or Status.ACTIVE.value
    query = {"list": "expiring", "within": within, "status": status}
    page = request.store.sessions.list_expiring(
        request.caller,
        within=within,
        status=Status(status),
        page=page_request(request, ExpiringPosition, query=query),
    )
    items = [expiring_answer(session) for session in page.items]
    return Reply(value=ExpiringPage(items=items, next_cursor=encode_cursor(page.next, query=query)))


@operation("POST", "/ops/drain", body=DrainSessions, answer=DrainAnswer)
def drain_sessions(request: Request) -> Reply:
    """Move sessions of every tenant that are about to end to closing."""
    drained = request.store.drain.run(request.caller, within=request.body.within_seconds)
    return Reply(value=DrainAnswer(moved=drained.moved, skipped=drained.skipped, more=drained.more))


@operation("GET", "/health", answer=HealthAnswer, anonymous=True)
def get_health(_: Request) -> Reply:
    """Tell that the function runs; nothing else."""
    return Reply(value=HealthAnswer(status="ok"))
