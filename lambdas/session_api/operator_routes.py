"""Operations: sessions of every tenant that expire soon, and the health check."""

from typing import Final

from session_api.cursors import encode_cursor
from session_api.lists import PAGING, SESSION_STATUSES, requested_page
from session_api.operations import Parameter, Reply, operation
from session_api.operator_answers import DrainAnswer, ExpiringPage, HealthAnswer, expiring_answer
from session_api.operator_bodies import DrainSessions
from session_api.paths import DRAIN, EXPIRING, HEALTH
from session_api.requests import Request
from session_store.domain.page import ExpiringPosition
from session_store.domain.session import Status
from session_store.domain.window import LONGEST_LIFE

DEFAULT_WITHIN_SECONDS: Final = 900


@operation(
    "GET",
    EXPIRING,
    answer=ExpiringPage,
    query=(
        Parameter(
            name="withinSeconds",
            schema={
                "type": "integer",
                "minimum": 1,
                "maximum": LONGEST_LIFE,
                "default": DEFAULT_WITHIN_SECONDS,
            },
            description="Only sessions that expire within so many seconds.",
        ),
        Parameter(
            name="status",
            schema={"type": "string", "enum": SESSION_STATUSES, "default": "active"},
            description="Only sessions in this status.",
        ),
        *PAGING,
    ),
)
def list_expiring(request: Request[None]) -> Reply:
    """List sessions of every tenant that expire soon, soonest first.

    Needs the ops permission. An index serves the list, so what has just changed may be missing for a moment.
    """
    within = request.query.integer("withinSeconds", default=DEFAULT_WITHIN_SECONDS, low=1, high=LONGEST_LIFE)
    status = request.query.choice("status", SESSION_STATUSES) or Status.ACTIVE.value
    query = {"list": "expiring", "within": within, "status": status}
    page = request.store.sessions.list_expiring(
        request.caller,
        within=within,
        status=Status(status),
        page=requested_page(request, ExpiringPosition, query=query),
    )
    items = [expiring_answer(session) for session in page.items]
    return Reply(value=ExpiringPage(items=items, next_cursor=encode_cursor(page.next, query=query)))


@operation("POST", DRAIN, body=DrainSessions, answer=DrainAnswer)
def drain_sessions(request: Request[DrainSessions]) -> Reply:
    """Move sessions of every tenant that expire soon to `closing`, so that they take no new work.

    Each session is moved on condition that it still expires in time, so one that is used in the meantime is
    left alone. A call takes up to 500 sessions; while `more` is true, call again. Needs the ops permission.
    """
    drained = request.store.drain.run(request.caller, within=request.body.within_seconds)
    return Reply(value=DrainAnswer(moved=drained.moved, skipped=drained.skipped, more=drained.more))


@operation("GET", HEALTH, answer=HealthAnswer, anonymous=True)
def get_health(_: Request[None]) -> Reply:
    """Check that the function runs.

    Needs no caller and reads nothing.
    """
    return Reply(value=HealthAnswer(status="ok"))
