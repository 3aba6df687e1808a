"""``/sessions/{sessionId}/tool-calls`` and ``/history``"""

from typing import Final

from session_api import problems
from session_api.answers import session_answer
from session_api.cursors import encode_cursor
from session_api.lists import PAGED, page_request
from session_api.operations import Reply, operation
from session_api.requests import Request
from session_api.session_routes import etag_of
from session_api.tool_call_answers import HistoryPage, ToolCallAnswer, ToolCallPage, tool_call_answer
from session_api.tool_call_bodies import RecordToolCall
from session_store.domain.page import RecordPosition
from session_store.domain.session import Session
from session_store.metric_names import Metric

TOOL_CALLS: Final = "/sessions/{sessionId}/tool-calls"
TOOL_CALL: Final = f"{TOOL_CALLS}/{{toolCallId}}"


@operation(
    "PUT",
    TOOL_CALL,
    body=RecordToolCall,
    answer=ToolCallAnswer,
    statuses=(201, 200),
    refusals=(
        problems.SESSION_NOT_FOUND,
        problems.NOT_FOUND,
        problems.SESSION_CLOSED,
        problems.IN_PROGRESS,
        problems.UNRECONCILED,
        problems.MISMATCH,
        problems.TOO_LARGE,
        problems.MISDIRECTED,
        problems.OUTCOME_UNKNOWN,
    ),
    counts=Metric.TOOL_CALLS,
)
def record_tool_call(request: Request) -> Reply:
    """Record a call that has been run, once: 200 where it was recorded before.

    The same call again is answered with what was recorded, also after the session was closed,
    deleted or expired.
    """
    call = request.body.to_domain(request.path["toolCallId"])
    recorded = request.store.recorded_calls.record(request.caller, request.session_id, call)
    return Reply(
        value=tool_call_answer(recorded.record),
        status=200 if recorded.replayed else 201,
        done=int(not recorded.replayed),
        replayed=int(recorded.replayed),
    )


@operation(
    "GET",
    TOOL_CALL,
    answer=ToolCallAnswer,
    refusals=(
        problems.SESSION_NOT_FOUND,
        problems.NOT_FOUND,
        problems.MISDIRECTED,
        problems.PAYLOAD_MISSING,
    ),
)
def get_tool_call(request: Request) -> Reply:
    """Read one tool call."""
    record = request.store.tool_calls.get(
        request.caller, request.session_id, request.path["toolCallId"], min_version=request.min_version
    )
    return Reply(value=tool_call_answer(record))


@operation(
    "GET",
    TOOL_CALLS,
    answer=ToolCallPage,
    query=PAGED,
    refusals=(problems.SESSION_NOT_FOUND, problems.MISDIRECTED, problems.PAYLOAD_MISSING),
)
def list_tool_calls(request: Request) -> Reply:
    """List the finished tool calls of a session in time order."""
    _, items, cursor = _finished(request, "tool-calls")
    return Reply(value=ToolCallPage(items=items, next_cursor=cursor))


@operation(
    "GET",
    "/sessions/{sessionId}/history",
    answer=HistoryPage,
    query=PAGED,
    refusals=(problems.SESSION_NOT_FOUND, problems.MISDIRECTED, problems.PAYLOAD_MISSING),
)
def get_history(request: Request) -> Reply:
    """Read a session together with a page of its finished tool calls."""
    session, items, cursor = _finished(request, "history")
    value = HistoryPage(session=session_answer(session), items=items, next_cursor=cursor)
    return Reply(value=value, headers=etag_of(session))


def _finished(request: Request, listed: str) -> tuple[Session, list[ToolCallAnswer], str | None]:
    """The session, a page of its finished calls, and the cursor of the list of that name after it."""
    query = {"list": listed, "session": request.session_id}
    session, page = request.store.tool_calls.history(
        request.caller,
        request.session_id,
        page_request(request, RecordPosition, query=query),
        min_version=request.min_version,
    )
    items = [tool_call_answer(record) for record in page.items]
    return session, items, encode_cursor(page.next, query=query)
