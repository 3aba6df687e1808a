"""Recorded tool calls: those that have been run, and a session's history."""

from session_api import problems
from session_api.cursors import encode_cursor
from session_api.lists import PAGING, requested_page
from session_api.operations import Reply, operation
from session_api.paths import HISTORY, TOOL_CALL, TOOL_CALLS
from session_api.requests import Request
from session_api.session_answers import etag_header, session_answer
from session_api.tool_call_answers import HistoryPage, ToolCallAnswer, ToolCallPage, tool_call_answer
from session_api.tool_call_bodies import RecordToolCall
from session_store.domain.page import RecordPosition
from session_store.domain.session import Session
from session_store.metric_names import Metric


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
        problems.MISDIRECTED,
        problems.OUTCOME_UNKNOWN,
    ),
    counts=Metric.TOOL_CALLS,
)
def record_tool_call(request: Request[RecordToolCall]) -> Reply:
    """Record a tool call that its caller has already run, once for its id.

    For calls that may safely be run without a lease; otherwise begin and complete them. The record and its
    audit event are written in one transaction.

    The same call again is a replay (200), also after the session was closed, deleted or expired, as long as
    it is not yet erased. The id with another tool, input or outcome is refused (422). 409 `in-progress` and
    `outcome-unknown`: the call was begun under a lease and is not settled.
    """
    call = request.body.to_domain(request.path["toolCallId"])
    recorded = request.store.recorded_calls.record(request.caller, request.session_id, call)
    return Reply(
        value=tool_call_answer(recorded.record),
        status=200 if recorded.replayed else 201,
        performed=int(not recorded.replayed),
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
def get_tool_call(request: Request[None]) -> Reply:
    """Read one tool call, in progress or settled."""
    call = request.store.tool_calls.get(
        request.caller, request.session_id, request.path["toolCallId"], min_version=request.min_version
    )
    return Reply(value=tool_call_answer(call))


@operation(
    "GET",
    TOOL_CALLS,
    answer=ToolCallPage,
    query=PAGING,
    refusals=(problems.SESSION_NOT_FOUND, problems.MISDIRECTED, problems.PAYLOAD_MISSING),
)
def list_tool_calls(request: Request[None]) -> Reply:
    """List the finished tool calls of a session, in the order of their start.

    Calls that are not settled are in the session's recovery.
    """
    _, items, cursor = _finished_calls(request, "tool-calls")
    return Reply(value=ToolCallPage(items=items, next_cursor=cursor))


@operation(
    "GET",
    HISTORY,
    answer=HistoryPage,
    query=PAGING,
    refusals=(problems.SESSION_NOT_FOUND, problems.MISDIRECTED, problems.PAYLOAD_MISSING),
)
def get_history(request: Request[None]) -> Reply:
    """Read a session together with a page of its finished tool calls, in the order of their start."""
    session, items, cursor = _finished_calls(request, "history")
    value = HistoryPage(session=session_answer(session), items=items, next_cursor=cursor)
    return Reply(value=value, headers=etag_header(session))


def _finished_calls(request: Request[object], name: str) -> tuple[Session, list[ToolCallAnswer], str | None]:
    """The session, a page of its finished calls, and the next cursor of the list called ``name``."""
    query = {"list": name, "session": request.session_id}
    session, page = request.store.tool_calls.history(
        request.caller,
        request.session_id,
        requested_page(request, RecordPosition, query=query),
        min_version=request.min_version,
    )
    items = [tool_call_answer(record) for record in page.items]
    return session, items, encode_cursor(page.next, query=query)
