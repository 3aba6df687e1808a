"""Work that must not be done twice: tool calls that are being run, and free keys.

Functions as in ``session_calls``. Whoever begins is given a ``fence``, and shows it with every step. A step
that is sent again finds its own work, also after the session has ended. ``lease_seconds`` is 1 to 3600.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from session_store_client.answers import (
    BegunClaim,
    BegunToolCall,
    Claim,
    FinishedToolCall,
    OpenCall,
    Recovery,
)
from session_store_client.calls import (
    AnswerT,
    Call,
    Repeat,
    claim_path,
    given,
    parameters,
    read,
    session_path,
    tool_call_path,
)

ATTEMPT_BYTES: Final = 16


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
    """Begin a call: it is to be run where it is answered ``in_progress``, else the answer is its outcome.

    ``attempt_id``: who asks again with it is given the fence again; one is made here where none is given.
    ``retry_safe``: another may run it again when nobody knows whether it was run. ``InProgressError`` where
    another attempt runs it, ``UnreconciledError`` where one may have.
    """
    begin = {"toolCallId": tool_call_id, "toolName": tool_name}
    return _begins(
        "POST",
        f"{session_path(session_id)}/tool-calls",
        BegunToolCall,
        {**begin, **_attempt(input, attempt_id, lease_seconds, retry_safe=retry_safe)},
    )


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
    """Complete a call, and change its session with it, all or nothing; the parts as in the contract.

    The same again is a success whatever has become of the session. ``FencedError`` where another attempt
    has taken over.
    """
    optional = given(durationMs=duration_ms, state=state, status=status, expectedVersion=expected_version)
    body = {"fence": fence, "output": output, "messages": messages, "tasks": tasks, **optional}
    return _ends(f"{tool_call_path(session_id, tool_call_id)}/complete", FinishedToolCall, body)


def fail_tool_call(
    session_id: str,
    tool_call_id: str,
    *,
    fence: int,
    error: Any,  # noqa: ANN401 - any JSON value
    duration_ms: int | None = None,
) -> Call[FinishedToolCall]:
    """Say that a call has failed: an outcome like any other."""
    body = {"fence": fence, "error": error, **given(durationMs=duration_ms)}
    return _ends(f"{tool_call_path(session_id, tool_call_id)}/fail", FinishedToolCall, body)


def extend_tool_call(session_id: str, tool_call_id: str, *, fence: int, lease_seconds: int) -> Call[OpenCall]:
    """Hold a call for ``lease_seconds`` from now, and its session with it."""
    body = {"fence": fence, "leaseSeconds": lease_seconds}
    return _extends(f"{tool_call_path(session_id, tool_call_id)}/heartbeat", OpenCall, body)


def reconcile_tool_call(
    session_id: str,
    tool_call_id: str,
    *,
    fence: int,
    outcome: Literal["completed", "failed", "retry"],
    output: Any = None,  # noqa: ANN401 - any JSON value
    error: Any = None,  # noqa: ANN401 - likewise
) -> Call[FinishedToolCall]:
    """Say how a call ended that nobody holds any more, or that it may be run again.

    ``fence``: of the attempt that was looked into, as ``get_recovery`` and ``get_tool_call`` tell it.
    ``FencedError`` where another has come since.
    """
    body = {"fence": fence, "outcome": outcome, **given(output=output, error=error)}
    return _reconciles(f"{tool_call_path(session_id, tool_call_id)}/reconcile", FinishedToolCall, body)


def get_recovery(session_id: str, *, namespace: str = "", min_version: int | None = None) -> Call[Recovery]:
    """What a session has in flight, and the newest checkpoint of a namespace, to go on with."""
    path = f"{session_path(session_id)}/recovery"
    return read(path, Recovery, query=parameters(namespace=namespace), min_version=min_version)


def begin_claim(
    key: str,
    *,
    input: Any,  # noqa: A002, ANN401 - any JSON value, named as in the contract
    attempt_id: str | None = None,
    lease_seconds: int | None = None,
    retry_safe: bool = False,
    retain_seconds: int | None = None,
) -> Call[BegunClaim]:
    """Claim a key: as ``begin_tool_call``, of any work that has a name."""
    body = _attempt(input, attempt_id, lease_seconds, retry_safe=retry_safe)
    return _begins("PUT", claim_path(key), BegunClaim, {**body, **given(retainSeconds=retain_seconds)})


def get_claim(key: str) -> Call[Claim]:
    """A claim as it is."""
    return read(claim_path(key), Claim)


def complete_claim(key: str, *, fence: int, output: Any) -> Call[Claim]:  # noqa: ANN401 - any JSON value
    """Give the claim its outcome; the same again is a success."""
    return _ends(f"{claim_path(key)}/complete", Claim, {"fence": fence, "output": output})


def fail_claim(key: str, *, fence: int, error: Any) -> Call[Claim]:  # noqa: ANN401 - any JSON value
    """Say that the work has failed: an outcome like any other."""
    return _ends(f"{claim_path(key)}/fail", Claim, {"fence": fence, "error": error})


def extend_claim(key: str, *, fence: int, lease_seconds: int) -> Call[Claim]:
    """Hold the claim for ``lease_seconds`` from now."""
    body = {"fence": fence, "leaseSeconds": lease_seconds}
    return _extends(f"{claim_path(key)}/heartbeat", Claim, body)


def reconcile_claim(
    key: str,
    *,
    fence: int,
    outcome: Literal["completed", "failed", "retry"],
    output: Any = None,  # noqa: ANN401 - any JSON value
    error: Any = None,  # noqa: ANN401 - likewise
) -> Call[Claim]:
    """Say how work ended that nobody holds any more, or that it may be done again.

    ``fence``: of the attempt that was looked into, as ``get_claim`` tells it.
    """
    body = {"fence": fence, "outcome": outcome, **given(output=output, error=error)}
    return _reconciles(f"{claim_path(key)}/reconcile", Claim, body)


def _attempt(
    value: object, attempt_id: str | None, lease_seconds: int | None, *, retry_safe: bool
) -> dict[str, object]:
    return {
        "input": value,
        "attemptId": attempt_id or secrets.token_urlsafe(ATTEMPT_BYTES),
        "retrySafe": retry_safe,
        **given(leaseSeconds=lease_seconds),
    }


def _begins(method: str, path: str, answer: type[AnswerT], body: Mapping[str, object]) -> Call[AnswerT]:
    """Known again by its attempt. That the session is closed by then tells nothing of an attempt before."""
    return Call(method=method, path=path, answer=answer, body=body, repeat=Repeat.ADDED)


def _ends(path: str, answer: type[AnswerT], body: Mapping[str, object]) -> Call[AnswerT]:
    """Known again by its outcome, which is judged before all else."""
    return Call(method="POST", path=path, answer=answer, body=body, repeat=Repeat.RECOGNISED)


def _reconciles(path: str, answer: type[AnswerT], body: Mapping[str, object]) -> Call[AnswerT]:
    """Of one attempt, and so done once; whoever comes after the answer to it is lost, refuses it again."""
    return Call(method="POST", path=path, answer=answer, body=body, repeat=Repeat.GUARDED)


def _extends(path: str, answer: type[AnswerT], body: Mapping[str, object]) -> Call[AnswerT]:
    return Call(method="POST", path=path, answer=answer, body=body, repeat=Repeat.FREELY)
