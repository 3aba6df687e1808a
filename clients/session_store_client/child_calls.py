"""What lies below a session: transcript, tool calls, audit. Functions as in ``session_calls``."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from session_store_client.answers import AppendedMessages, AuditEntry, HistoryPage, Message, Page, ToolCall
from session_store_client.calls import (
    Call,
    Repeat,
    given,
    parameters,
    read,
    session_path,
    tool_call_path,
)
from session_store_client.message_ids import MessageIds

_IDS: Final = MessageIds()


def append_messages(
    session_id: str,
    contents: Sequence[Any],
    *,
    message_ids: Sequence[str] | None = None,
    atomic: bool = False,
) -> Call[AppendedMessages]:
    """Append 1 to 25 messages, each once for ever.

    A message that has no id is given one here, so that sending it again does not append it again. Who wants
    to append again after this process has ended keeps ``message_ids`` (UUIDv7, one for each of the contents).
    """
    ids = [_IDS.mint() for _ in contents] if message_ids is None else message_ids
    messages = [
        {"messageId": message_id, "content": content}
        for message_id, content in zip(ids, contents, strict=True)
    ]
    return Call(
        method="POST",
        path=f"{session_path(session_id)}/context",
        answer=AppendedMessages,
        body={"messages": messages, "atomic": atomic},
        repeat=Repeat.ADDED,
    )


def list_messages(
    session_id: str,
    *,
    order: Literal["asc", "desc"] = "asc",
    min_version: int | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Message]]:
    """The transcript in the order of its ids."""
    query = parameters(order=order, limit=limit, cursor=cursor)
    return read(f"{session_path(session_id)}/context", Page[Message], query=query, min_version=min_version)


def record_tool_call(
    session_id: str,
    tool_call_id: str,
    *,
    tool_name: str,
    input: Any,  # noqa: A002, ANN401 - any JSON value, named as in the contract
    duration_ms: int,
    output: Any = None,  # noqa: ANN401 - likewise
    error: Any = None,  # noqa: ANN401 - likewise
    started_at: str | None = None,
) -> Call[ToolCall]:
    """Record a call that has been run, once: with an ``error`` it failed.

    The store knows it by ``tool_call_id``, so it may be sent again, also by another process and after the
    session has ended; with another input or outcome it is an ``IdempotencyMismatchError``. ``started_at`` is
    ISO 8601 with a zone.
    """
    settled = given(output=output, error=error, startedAt=started_at)
    return Call(
        method="PUT",
        path=tool_call_path(session_id, tool_call_id),
        answer=ToolCall,
        body={"toolName": tool_name, "input": input, "durationMs": duration_ms, **settled},
        repeat=Repeat.ADDED,
    )


def get_tool_call(session_id: str, tool_call_id: str, *, min_version: int | None = None) -> Call[ToolCall]:
    """One finished call."""
    return read(tool_call_path(session_id, tool_call_id), ToolCall, min_version=min_version)


def list_tool_calls(
    session_id: str, *, min_version: int | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[ToolCall]]:
    """The finished calls in time order."""
    query = parameters(limit=limit, cursor=cursor)
    return read(
        f"{session_path(session_id)}/tool-calls", Page[ToolCall], query=query, min_version=min_version
    )


def get_history(
    session_id: str, *, min_version: int | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[HistoryPage]:
    """A session together with a page of its finished calls."""
    query = parameters(limit=limit, cursor=cursor)
    return read(f"{session_path(session_id)}/history", HistoryPage, query=query, min_version=min_version)


def list_audit(
    session_id: str, *, limit: int | None = None, cursor: str | None = None
) -> Call[Page[AuditEntry]]:
    """What happened to a session and what lies below it, the oldest first."""
    return read(
        f"{session_path(session_id)}/audit", Page[AuditEntry], query=parameters(limit=limit, cursor=cursor)
    )
