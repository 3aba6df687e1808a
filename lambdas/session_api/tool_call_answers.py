"""Response bodies about tool calls, and of a session's history."""

from typing import Any, Literal

from session_api.answers import Answer
from session_api.session_answers import SessionAnswer
from session_store.domain.times import iso
from session_store.domain.tool_call import Claim, ToolCallRecord


class ToolCallAnswer(Answer, frozen=True):
    """A tool call and, once it is settled, its outcome."""

    tool_call_id: str
    """The caller's id of the call, unique within the session."""

    tool_name: str
    """The tool that is called."""

    status: Literal["in_progress", "completed", "failed"]
    """`in_progress` also after the lease has expired, until the call is settled: `completed` or `failed`."""

    input: Any
    """The input that the call was begun with."""

    output: Any
    """What the tool returned; null unless `completed`."""

    error: Any
    """How the call failed; null unless `failed`."""

    started_at: str
    """When the first attempt began."""

    completed_at: str | None
    """When the call was settled; null before."""

    duration_ms: int | None
    """Milliseconds that the call took; null until it is settled."""

    fence: int
    """The fencing token of the current attempt. It rises with every attempt."""

    lease_until: str | None
    """When the current lease expires; null once the call is settled."""


class ToolCallPage(Answer, frozen=True):
    """A page of the finished tool calls of a session, in time order."""

    items: list[ToolCallAnswer]
    """Possibly fewer than the limit, also before the last page."""

    next_cursor: str | None
    """The `cursor` of the next page; null at the end of the list."""


class HistoryPage(Answer, frozen=True):
    """A session and a page of its finished tool calls, in time order."""

    session: SessionAnswer
    """The session as it is now."""

    items: list[ToolCallAnswer]
    """Possibly fewer than the limit, also before the last page."""

    next_cursor: str | None
    """The `cursor` of the next page; null at the end of the list."""


def tool_call_answer(call: Claim | ToolCallRecord) -> ToolCallAnswer:
    return ToolCallAnswer(**tool_call_fields(call))


def tool_call_fields(call: Claim | ToolCallRecord) -> dict[str, Any]:
    """The fields of a settled call's record, or of the claim of a call that is not settled."""
    return _record_fields(call) if isinstance(call, ToolCallRecord) else _claim_fields(call)


def _claim_fields(claim: Claim) -> dict[str, Any]:
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


def _record_fields(record: ToolCallRecord) -> dict[str, Any]:
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
