"""How tool calls and free claims are begun, extended, settled and reconciled."""

import secrets
from collections.abc import Mapping
from typing import Final

from session_store_client.calls import AnswerT, Call, Repeat, given

ATTEMPT_BYTES: Final = 16


def attempt_body(
    value: object, attempt_id: str | None, lease_seconds: int | None, *, retry_safe: bool
) -> dict[str, object]:
    """Build what every begin sends. An attempt without an id gets one, so that its retry is recognised."""
    return {
        "input": value,
        "attemptId": attempt_id or secrets.token_urlsafe(ATTEMPT_BYTES),
        "retrySafe": retry_safe,
        **given(leaseSeconds=lease_seconds),
    }


def begin(method: str, path: str, answer: type[AnswerT], body: Mapping[str, object]) -> Call[AnswerT]:
    """The store recognises the attempt. A closed session proves nothing about an earlier attempt."""
    return Call(method=method, path=path, answer=answer, body=body, repeat=Repeat.RECOGNISED_APPEND)


def extend(path: str, answer: type[AnswerT], *, fence: int, lease_seconds: int) -> Call[AnswerT]:
    body = {"fence": fence, "leaseSeconds": lease_seconds}
    return Call(method="POST", path=f"{path}/heartbeat", answer=answer, body=body, repeat=Repeat.IDEMPOTENT)


def settle(path: str, answer: type[AnswerT], body: Mapping[str, object]) -> Call[AnswerT]:
    """The store recognises the outcome, and judges it before anything else."""
    return Call(method="POST", path=path, answer=answer, body=body, repeat=Repeat.RECOGNISED)


def reconcile(
    path: str, answer: type[AnswerT], *, fence: int, outcome: str, output: object, error: object
) -> Call[AnswerT]:
    """Applies to one attempt, so it happens once; a repetition is refused.

    It does not wait for a lease: what was found while the attempt was running may be outdated when it ends.
    """
    body = {"fence": fence, "outcome": outcome, **given(output=output, error=error)}
    path = f"{path}/reconcile"
    return Call(method="POST", path=path, answer=answer, body=body, repeat=Repeat.RECONCILIATION)
