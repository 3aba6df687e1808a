"""How an invocation ended, and from which record on its batch has failed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from session_store.domain.batch_answer import failed_places

WHOLE_BATCH: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationResult:
    """How an invocation ended."""

    request_id: str
    status_code: int = 200
    executed_version: str = "$LATEST"
    function_error: str | None = None
    """``Unhandled`` or ``Handled`` where the function raised, crashed or ran out of time."""

    payload: bytes = b"null"


def first_failure(
    answer: InvocationResult, sequence_numbers: Sequence[str], *, reports_failures: bool
) -> int | None:
    """The place in the batch from which on it has failed; None for success, ``WHOLE_BATCH`` for all of it.

    Of several failures the lowest counts.
    """
    if answer.function_error is not None:
        return WHOLE_BATCH
    if not reports_failures:
        return None
    return min(failed_places(answer.payload, sequence_numbers), default=None)
