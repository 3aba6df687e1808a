"""Tool calls of a session. Functions as in ``session_calls``.

``begin_tool_call`` gives one attempt a lease and a ``fence``; every later step passes the fence, so a stale
holder changes nothing. ``lease_seconds`` is 1 to 3600, ``duration_ms`` at most 86400000.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from session_store_client.answers import BegunToolCall, FinishedToolCall, OpenCall, Page, ToolCall
from session_store_client.calls import (
    Call,
    Repeat,
    given,
    parameters,
    read,
    session_path,
    tool_call_path,
)
from session_store_client.claim_steps import attempt_body, begin, extend, reconcile, settle


def begin_tool_call(
    session_id: str,
    tool_call_id: str,
    *,
    tool_name: str,
    input: Any,  # noqa: A002, ANN401 - any JSON value, named as in the contract
    attempt_id: str | None = None,
    lease_seconds: int | None = None,
    retry_safe: bool = False,
) -> Call[BegunToolCall]:
    """Begin a tool call. Run it only if the answer's status is ``in_progress``; otherwise it has run before.

    ``attempt_id`` names the attempt: beginning again with it returns the same fence; one is minted here when
    not given. ``lease_seconds`` defaults to 60. ``retry_safe``: the call may be run again when its lease has
    expired without an outcome.

    Retried as the same attempt after a lost response. A second call with the same ``attempt_id`` is safe to
    repeat.

    Raises:
        SessionNotFoundError: there is none, it has expired, or it belongs to another caller.
        SessionClosedError: it is closing or closed.
        InProgressError: another attempt still holds the lease after the client's retries.
        UnreconciledError: an attempt whose lease expired may have run it: find out, then
            ``reconcile_tool_call``.
        IdempotencyMismatchError: the id was used with another tool name or input.
        OutcomeUnknownError: the lease may have been taken; begin again with the same ``attempt_id``.
    """
    named = {"toolCallId": tool_call_id, "toolName": tool_name}
    attempt = attempt_body(input, attempt_id, lease_seconds, retry_safe=retry_safe)
    return begin("POST", f"{session_path(session_id)}/tool-calls", BegunToolCall, {**named, **attempt})


def complete_tool_call(
    session_id: str,
    tool_call_id: str,
    *,
    fence: int,
    output: Any,  # noqa: ANN401 - any JSON value
    duration_ms: int | None = None,
    state: Mapping[str, Any] | None = None,
    messages: Sequence[Mapping[str, Any]] = (),
    status: Mapping[str, Any] | None = None,
    tasks: Sequence[Mapping[str, Any]] = (),
    expected_version: int | None = None,
) -> Call[FinishedToolCall]:
    """Complete a tool call and change its session with it, all in one transaction.

    ``state``: operations as in ``change_state``. ``messages``: up to 25, each ``{"content", "messageId"?}``.
    ``status``: ``{"to": "closing"}``. ``tasks``: up to 25 bodies of ``POST /tasks``. ``expected_version``:
    the version that the session must still have. They are JSON objects named as in ``docs/openapi.json``.

    Safe to repeat with the same arguments, whatever has become of the session: the store recognises the
    outcome.

    Raises:
        FencedError: another attempt has taken over, or the call is settled otherwise: stop working on it.
        IdempotencyMismatchError: it was settled before with another outcome.
        SessionClosedError, InvalidTransitionError, VersionConflictError, ContentConflictError: the change of
            the session is refused, and the call is still in progress.
        NotFoundError: there is no such call, or its session is gone.
        PayloadTooLargeError: the transaction exceeds the limit.
    """
    optional = given(durationMs=duration_ms, state=state, status=status, expectedVersion=expected_version)
    body = {"fence": fence, "output": output, "messages": messages, "tasks": tasks, **optional}
    return settle(f"{tool_call_path(session_id, tool_call_id)}/complete", FinishedToolCall, body)


def fail_tool_call(
    session_id: str,
    tool_call_id: str,
    *,
    fence: int,
    error: Any,  # noqa: ANN401 - any JSON value
    duration_ms: int | None = None,
) -> Call[FinishedToolCall]:
    """Settle a tool call as failed: a final outcome, recorded like any other.

    Safe to repeat, and raises, as ``complete_tool_call``.
    """
    body = {"fence": fence, "error": error, **given(durationMs=duration_ms)}
    return settle(f"{tool_call_path(session_id, tool_call_id)}/fail", FinishedToolCall, body)


def extend_tool_call(session_id: str, tool_call_id: str, *, fence: int, lease_seconds: int) -> Call[OpenCall]:
    """Extend the lease to ``lease_seconds`` from now, and keep the session alive as long. Safe to repeat.

    Raises:
        FencedError: another attempt has taken over, or the call is settled: stop working on it.
        NotFoundError: there is no such call, or its session is gone.
    """
    return extend(
        tool_call_path(session_id, tool_call_id), OpenCall, fence=fence, lease_seconds=lease_seconds
    )


def reconcile_tool_call(
    session_id: str,
    tool_call_id: str,
    *,
    fence: int,
    outcome: Literal["completed", "failed", "retry"],
    output: Any = None,  # noqa: ANN401 - any JSON value
    error: Any = None,  # noqa: ANN401 - likewise
) -> Call[FinishedToolCall]:
    """Settle a call whose outcome is unknown, or let it be run again (``retry``).

    ``fence``: of the attempt that was looked into, as ``get_recovery`` and ``get_tool_call`` show it.

    Retried after a lost response; a refusal after that is raised as ``OutcomeUnknownError``, since the first
    attempt may have caused it. A running lease is not waited for.

    Raises:
        FencedError: another attempt has begun since, or the call is settled.
        InProgressError: the attempt still holds its lease. Look into it again once it has ended: what was
            found while it was running may be outdated.
        IdempotencyMismatchError: it was settled before with another outcome.
        NotFoundError: there is no such call, or its session is gone.
    """
    path = tool_call_path(session_id, tool_call_id)
    return reconcile(path, FinishedToolCall, fence=fence, outcome=outcome, output=output, error=error)


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
    """Record a tool call that has been run already, once. With an ``error`` it is recorded as failed.

    ``started_at`` is ISO 8601 with a zone; without it, ``duration_ms`` before now.

    Safe to repeat with the same arguments, also from another process and after the session has ended: the
    store recognises ``tool_call_id``.

    Raises:
        SessionNotFoundError, SessionClosedError: as in ``begin_tool_call``.
        IdempotencyMismatchError: the id was used with another input or outcome.
        InProgressError, UnreconciledError: the id was begun, as in ``begin_tool_call``.
        PayloadTooLargeError: input and outcome exceed the limit.
        OutcomeUnknownError: it may have been recorded; for instance the session was closed after a lost
            response.
    """
    settled = given(output=output, error=error, startedAt=started_at)
    return Call(
        method="PUT",
        path=tool_call_path(session_id, tool_call_id),
        answer=ToolCall,
        body={"toolName": tool_name, "input": input, "durationMs": duration_ms, **settled},
        repeat=Repeat.RECOGNISED_APPEND,
    )


def get_tool_call(session_id: str, tool_call_id: str, *, min_version: int | None = None) -> Call[ToolCall]:
    """Read one tool call, in progress or settled. Safe to repeat.

    Raises:
        NotFoundError: there is no such call, or its session is gone.
    """
    return read(tool_call_path(session_id, tool_call_id), ToolCall, min_version=min_version)


def list_tool_calls(
    session_id: str, *, min_version: int | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[ToolCall]]:
    """List the settled tool calls in the order of their start; ``get_recovery`` has those in progress.

    ``limit``: calls a page, 1 to 100 (default 20). Safe to repeat.

    Raises:
        SessionNotFoundError: as in ``begin_tool_call``.
    """
    query = parameters(limit=limit, cursor=cursor)
    return read(
        f"{session_path(session_id)}/tool-calls", Page[ToolCall], query=query, min_version=min_version
    )
