"""Audit: what happened to a session and its child items."""

from session_api import problems
from session_api.audit_answers import AuditPage, audit_answer
from session_api.cursors import encode_cursor
from session_api.lists import PAGING, requested_page
from session_api.operations import Reply, operation
from session_api.paths import AUDIT
from session_api.requests import Request
from session_store.domain.page import AuditPosition


@operation(
    "GET",
    AUDIT,
    answer=AuditPage,
    query=PAGING,
    refusals=(problems.SESSION_NOT_FOUND,),
)
def list_audit(request: Request[None]) -> Reply:
    """List the audit trail of a session and its child items, oldest first.

    Changes come from the table's stream and follow a write by about a second; events are written together
    with what they report. The session must not have ended: afterwards operators read its trail by other
    means.
    """
    query = {"list": "audit", "session": request.session_id}
    page = request.store.audit.page(
        request.caller, request.session_id, requested_page(request, AuditPosition, query=query)
    )
    items = [audit_answer(entry) for entry in page.items]
    return Reply(value=AuditPage(items=items, next_cursor=encode_cursor(page.next, query=query)))
