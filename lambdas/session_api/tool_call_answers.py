"""The bodies of answers about tool calls, and of a session's history."""

from typing import Any, Literal

from session_api.answers import Answer, SessionAnswer
from session_store.domain.times import iso
from session_store.domain.tool_call import Claim, ToolCallRecord


class ToolCallAnswer(Answer, frozen=True):
    tool_call_id: str
    tool_name: str
    status: Literal["in_progress", "completed", "failed"]
    input: Any
    output: Any
    error: Any
    started_at: str
    completed_at: str | None
    duration_ms: int | None
    fence: int
    lease_until: str | None


class ToolCallPage(Answer, frozen=True):
    items: list[ToolCallAnswer]
    next_cursor: str | None


class HistoryPage(Answer, frozen=True):
    session: SessionAnswer
    items: list[ToolCallAnswer]
    next_cursor: str | None


def tool_call_answer(call: Claim | ToolCallRecord) -> ToolCallAnswer:
    return ToolCallAnswer(**tool_call_fields(call))


def tool_call_fields(call: Claim | ToolCallRecord) -> dict[str, Any]:
    """Of a record, or of the claim of a call that is not settled."""
    return _recorded(call) if isinstance(call, ToolCallRecord) else _unsettled(call)


def _unsettled(claim: Claim) -> dict[str, Any]:
    return {
        "tool_call_id": claim.tool_call_id,
        "tool_name": claim.tool_name,
        "status": claim.status.value,
        "input": claim.input,
        "output": None,
        "error": None,
        "started_at": iso(claim.started_at),
        "completed_at": None,
        "duration_ms": None,
        "fence": claim.fence,
        "lease_until": iso(claim.lease_until_ms),
    }


def _recorded(record: ToolCallRecord) -> dict[str, Any]:
    return {
        "tool_call_id": record.tool_call_id,
        "tool_name": record.tool_name,
        "status": record.status.value,
        "input": record.input,
        "output": record.output,
        "error": record.error,
        "started_at": iso(record.started_at),
        "completed_at": iso(record.completed_at),
        "duration_ms": record.duration_ms,
        "fence": record.fence,
        "lease_until": None,
    }
