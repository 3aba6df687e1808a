"""``/sessions/{sessionId}/audit``"""

from session_api import problems
from session_api.answers import AuditPage, audit_answer
from session_api.cursors import encode_cursor
from session_api.lists import PAGED, page_request
from session_api.operations import Reply, operation
from session_api.requests import Request
from session_store.domain.page import AuditPosition


@operation(
    "GET",
    "/sessions/{sessionId}/audit",
    answer=AuditPage,
    query=PAGED,
    refusals=(problems.SESSION_NOT_FOUND,),
)
def list_audit(request: Request) -> Reply:
    """List what happened to a session and its children, the oldest first."""
    query = {"list": "audit", "session": request.session_id}
    page = request.store.audit.page(
        request.caller, request.session_id, page_request(request, AuditPosition, query=query)
    )
    items = [audit_answer(entry) for entry in page.items]
    return Reply(value=AuditPage(items=items, next_cursor=encode_cursor(page.next, query=query)))
