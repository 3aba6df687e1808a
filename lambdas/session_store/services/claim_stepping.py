"""Steps of the claim machine, taken until what is there stands still."""

from collections.abc import Callable
from typing import Final

from session_store.domain.claim import MAX_LEASE, MIN_LEASE, SETTLED, ClaimGuard, ClaimStatus, ClaimT, Step
from session_store.domain.identifiers import check_identifier
from session_store.domain.json_values import JsonValue
from session_store.errors import InvalidRequestError, ThrottledError
from session_store.ports import Refused

MAX_CONFLICT_ATTEMPTS: Final = 8
"""How often a step is judged anew because somebody else was faster."""


def apply_step(
    judge: Callable[[ClaimT | None], Step[ClaimT]],
    put: Callable[[ClaimT, ClaimGuard], Refused[ClaimT] | None],
    held: ClaimT | None,
) -> Step[ClaimT]:
    """The step that was taken from ``held``, or from what turned out to be there.

    Raises:
        StoreError: what ``judge`` says of what is there.
        ThrottledError: it changed at every turn.
    """
    for _ in range(MAX_CONFLICT_ATTEMPTS):
        step = judge(held)
        if step.guard is None:
            return step
        refused = put(step.claim, step.guard)
        if refused is None:
            return step
        held = refused.held
    raise ThrottledError


def check_begin(*, attempt_id: str | None, lease_seconds: int) -> None:
    """Raises:
    InvalidRequestError: names the path.
    """
    if attempt_id is not None:
        check_identifier(attempt_id, path="$.attemptId")
    check_lease(lease_seconds)


def check_lease(lease_seconds: int) -> None:
    """Raises:
    InvalidRequestError: names the path.
    """
    if not MIN_LEASE <= lease_seconds <= MAX_LEASE:
        detail = f"Must be {MIN_LEASE} to {MAX_LEASE} seconds"
        raise InvalidRequestError(detail, path="$.leaseSeconds")


def check_outcome(status: ClaimStatus, *, output: JsonValue, error: JsonValue) -> None:
    """What is completed may have an output, what has failed an error, and nothing else is an outcome.

    Raises:
        InvalidRequestError: names the path.
    """
    if status not in SETTLED:
        raise InvalidRequestError("Only an end is an outcome", path="$.outcome")
    if output is not None and status is not ClaimStatus.COMPLETED:
        raise InvalidRequestError("Only what is completed has an output", path="$.output")
    if error is not None and status is not ClaimStatus.FAILED:
        raise InvalidRequestError("Only what has failed has an error", path="$.error")
