"""A claim: whose a piece of work is that must not be done twice, and whether it is done.

The core of every claim: that of a tool call, and that of an idempotency key. Each
kind adds what it needs to be found, to be finished and to be answered again.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from session_store.domain.session import Author, Owner
from session_store.errors import IdempotencyMismatchError, InProgressError


class ClaimStatus(StrEnum):
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


SETTLED: Final = frozenset({ClaimStatus.COMPLETED, ClaimStatus.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyClaim:
    """Carries its owner: it outlives what it guards. ``started_at`` in milliseconds, ``ttl`` in seconds."""

    owner: Owner
    status: ClaimStatus
    input_hash: str
    started_at: int
    ttl: int
    author: Author


def check_repeat(held: AnyClaim, *, input_hash: str, mismatch: str) -> None:
    """Pass where the claim that is there is settled and of the same input: its outcome is the answer.

    Raises:
        IdempotencyMismatchError: of another input; ``mismatch`` says so.
        InProgressError: not settled yet.
    """
    if held.input_hash != input_hash:
        raise IdempotencyMismatchError(mismatch)
    if held.status not in SETTLED:
        raise InProgressError
