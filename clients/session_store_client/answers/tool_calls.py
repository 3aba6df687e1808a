"""Tool calls of a session."""

from typing import Any, Literal

from session_store_client.answers.base import Answer


class ToolCall(Answer, frozen=True):
    """``completed_at`` and ``duration_ms`` are None until the call is settled, ``lease_until`` afterwards."""

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


class BegunToolCall(ToolCall, frozen=True):
    """``in_progress``: run the call. ``completed`` or ``failed``: its outcome is here, do not run it.

    ``downstream_token`` is the same for every attempt: an idempotency key for the service the tool calls.
    """

    downstream_token: str


class SessionVersion(Answer, frozen=True):
    version: int
    ttl: int


class FinishedToolCall(ToolCall, frozen=True):
    """``session`` is None if the session is gone. ``tasks``: ids of the tasks created with the call."""

    session: SessionVersion | None
    tasks: tuple[str, ...]


class OpenCall(Answer, frozen=True):
    """A call in progress, without its input."""

    tool_call_id: str
    tool_name: str
    status: Literal["in_progress"]
    started_at: str
    fence: int
    lease_until: str
    retry_safe: bool
