"""The claim machine: whose a piece of work is that must not be done twice, and how it ended.

One machine for tool calls, free idempotency keys and tasks; each kind adds what it
needs to be found, to be finished and to be answered again. ``claim_steps`` has what may
become of a claim.
"""

from enum import Enum, StrEnum, auto
from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct

from session_store.domain.session import Author, Owner
from session_store.domain.times import MILLIS, is_over
from session_store.errors import IdempotencyMismatchError, InProgressError

DAY: Final = 86_400
MIN_LEASE: Final = 1
MAX_LEASE: Final = 3600
"""Seconds that a lease may last before a heartbeat renews it."""

SKEW_MARGIN_MS: Final = 4000
"""How far two clocks may differ: as long after its end a lease still counts as running."""


class ClaimStatus(StrEnum):
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


SETTLED: Final = frozenset({ClaimStatus.COMPLETED, ClaimStatus.FAILED})


class Leased(Struct, frozen=True, kw_only=True):
    """What one attempt at a time holds, until its lease is over: a claim, or a task.

    ``fence`` rises with every attempt, and only the holder of the current one may go on.
    ``retry_safe``: the work may be done again when nobody knows whether it was done.
    ``outcome_hash`` is of what the last attempt came to; empty while one is at it.
    ``ttl`` in seconds, None as long as there is no end.
    """

    status: StrEnum
    ttl: int | None
    author: Author
    fence: int
    lease_until_ms: int
    retry_safe: bool
    outcome_hash: str = ""

    @property
    def in_hand(self) -> bool:
        """Whether an attempt is at it, its lease over or not."""
        raise NotImplementedError

    @property
    def is_settled(self) -> bool:
        """Whether nothing more comes of it."""
        raise NotImplementedError

    def is_gone(self, now_ms: int) -> bool:
        return self.ttl is not None and is_over(self.ttl, now_ms)


class LeasedClaim(Leased, frozen=True, kw_only=True):
    """Carries its owner: it outlives what it guards. ``started_at`` (milliseconds) is the first attempt's."""

    owner: Owner
    status: ClaimStatus
    input_hash: str
    started_at: int
    ttl: int
    attempt_id: str

    @property
    def in_hand(self) -> bool:
        return self.status is ClaimStatus.IN_PROGRESS

    @property
    def is_settled(self) -> bool:
        return self.status in SETTLED


ClaimT = TypeVar("ClaimT", bound=Leased)
BegunT = TypeVar("BegunT", bound=LeasedClaim)


class Standing(Enum):
    """What a claim is to somebody who asks for its work."""

    ABSENT = auto()
    RUNNING = auto()
    AVAILABLE = auto()
    """Nobody holds it any more, and the work may be done again."""

    UNKNOWN = auto()
    """Its lease is over, and what it did must be found out first."""

    SETTLED = auto()


class ClaimGuard(Struct, frozen=True, kw_only=True):
    """What must be there for a claim to be written at ``now_ms``.

    No claim, or an expired one, where ``fence`` is None; else one of ``status`` with this
    fence and, where it decides that a lease is over, with this lease.
    """

    now_ms: int
    fence: int | None = None
    lease_until_ms: int | None = None
    status: StrEnum = ClaimStatus.IN_PROGRESS


class Step(Struct, Generic[ClaimT], frozen=True, kw_only=True):
    """The claim after a step. ``guard`` None: it is so already, and nothing is to be written."""

    claim: ClaimT
    guard: ClaimGuard | None

    @property
    def replayed(self) -> bool:
        """Whether the claim is already as the step would leave it, so that nothing is written."""
        return self.guard is None


def standing(held: Leased | None, *, now_ms: int) -> Standing:
    if held is None or held.is_gone(now_ms):
        return Standing.ABSENT
    if held.is_settled:
        return Standing.SETTLED
    if held.in_hand and not lease_over(held.lease_until_ms, now_ms):
        return Standing.RUNNING
    return Standing.AVAILABLE if held.retry_safe else Standing.UNKNOWN


def lease_over(lease_until_ms: int, now_ms: int) -> bool:
    """Whether a lease is over by every clock: some may be ahead of the one that granted it."""
    return now_ms >= lease_until_ms + SKEW_MARGIN_MS


def next_fence(previous: int, now_ms: int) -> int:
    """The fence of the next attempt: higher than any before it, also than one of a claim that is gone."""
    return max(previous + 1, now_ms)


def claim_ttl(*, lease_until_ms: int, at_least: int = 0) -> int:
    """A claim stays a day after its lease, and until ``at_least`` (epoch seconds)."""
    return max(at_least, -(-lease_until_ms // MILLIS) + DAY)


def admits(held: Leased | None, guard: ClaimGuard) -> bool:
    """Whether what is there is what the guard asks for."""
    if held is None or held.is_gone(guard.now_ms):
        return guard.fence is None
    return (
        held.status == guard.status
        and held.fence == guard.fence
        and guard.lease_until_ms in (None, held.lease_until_ms)
    )


def untouched(held: Leased, now_ms: int) -> ClaimGuard:
    """A heartbeat meanwhile would show that the lease is not over after all."""
    return ClaimGuard(now_ms=now_ms, fence=held.fence, lease_until_ms=held.lease_until_ms, status=held.status)


class Used(Protocol):
    """A claim of whatever kind, as the repetition of a request meets it."""

    @property
    def status(self) -> ClaimStatus: ...

    @property
    def input_hash(self) -> str: ...


def check_repeat(held: Used, *, input_hash: str, mismatch: str) -> None:
    """Pass where the claim that is there is settled and of the same input: its outcome is the answer.

    Raises:
        IdempotencyMismatchError: of another input; ``mismatch`` says so.
        InProgressError: not settled yet.
    """
    if held.input_hash != input_hash:
        raise IdempotencyMismatchError(mismatch)
    if held.status not in SETTLED:
        raise InProgressError
