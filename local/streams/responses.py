"""How an invocation ended, and from which record on its batch failed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from session_store.domain.batch_answer import failed_positions

WHOLE_BATCH: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How an invocation ended."""

    request_id: str
    status_code: int = 200
    executed_version: str = "$LATEST"
    function_error: str | None = None
    """``Unhandled`` or ``Handled`` if the function raised, crashed or timed out."""

    payload: bytes = b"null"


def first_failure(answer: Answer, sequence_numbers: Sequence[str], *, reports_failures: bool) -> int | None:
    """The index from which on the batch failed; None for success, ``WHOLE_BATCH`` for all of it.

    With several failures the lowest index counts.
    """
    if answer.function_error is not None:
        return WHOLE_BATCH
    if not reports_failures:
        return None
    return min(failed_positions(answer.payload, sequence_numbers), default=None)
