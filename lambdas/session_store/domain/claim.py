"""The claim machine: whose a piece of work is that must not be done twice, and how it ended.

One machine for tool calls, free idempotency keys and tasks; each kind adds what it
needs to be found, to be finished and to be answered again. A step takes what is there
and the time, and says what is to be written and what must still be there for it: an
adapter makes a condition of that, and whoever is refused judges anew by what was there.
"""

from dataclasses import dataclass, replace
from enum import Enum, StrEnum, auto
from typing import Final, Generic, TypeVar

from session_store.domain.session import Author, Owner
from session_store.domain.times import MILLIS, is_over, iso
from session_store.errors import (
    FencedError,
    IdempotencyMismatchError,
    InProgressError,
    NotFoundError,
    UnreconciledError,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyClaim:
    """Carries its owner: it outlives what it guards. ``started_at`` in milliseconds, ``ttl`` in seconds."""

    owner: Owner
    status: ClaimStatus
    input_hash: str
    started_at: int
    ttl: int
    author: Author


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedClaim(AnyClaim):
    """A claim that one attempt holds until its lease is over.

    ``fence`` rises with every attempt, and only the holder of the current one may go on.
    ``started_at`` is the first attempt's. ``retry_safe``: the work may be done again when
    nobody knows whether it was done. ``outcome_hash`` is empty until the claim is settled.
    """

    attempt_id: str
    fence: int
    lease_until_ms: int
    retry_safe: bool
    outcome_hash: str = ""


ClaimT = TypeVar("ClaimT", bound=LeasedClaim)


class Standing(Enum):
    """What a claim is to somebody who asks for its work."""

    FREE = auto()
    RUNNING = auto()
    FORSAKEN = auto()
    """Its lease is over, and the work may be done again."""

    UNKNOWN = auto()
    """Its lease is over, and what it did must be found out first."""

    SETTLED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimGuard:
    """What must be there for a claim to be written at ``now_ms``.

    No claim, or an expired one, where ``fence`` is None; else one in progress with this
    fence and, where it decides that a lease is over, with this lease.
    """

    now_ms: int
    fence: int | None = None
    lease_until_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Generic[ClaimT]):
    """The claim after a step. ``guard`` None: it is so already, and nothing is to be written."""

    claim: ClaimT
    guard: ClaimGuard | None


def standing(held: LeasedClaim | None, *, now_ms: int) -> Standing:
    if held is None or is_over(held.ttl, now_ms):
        return Standing.FREE
    if held.status in SETTLED:
        return Standing.SETTLED
    if not lease_over(held.lease_until_ms, now_ms):
        return Standing.RUNNING
    return Standing.FORSAKEN if held.retry_safe else Standing.UNKNOWN


def lease_over(lease_until_ms: int, now_ms: int) -> bool:
    """Whether a lease is over by every clock: some may be ahead of the one that granted it."""
    return now_ms >= lease_until_ms + SKEW_MARGIN_MS


def next_fence(previous: int, now_ms: int) -> int:
    """The fence of the next attempt: higher than any before it, also than one of a claim that is gone."""
    return max(previous + 1, now_ms)


def claim_ttl(*, lease_until_ms: int, at_least: int = 0) -> int:
    """A claim stays a day after its lease, and until ``at_least`` (epoch seconds)."""
    return max(at_least, -(-lease_until_ms // MILLIS) + DAY)


def admits(held: LeasedClaim | None, guard: ClaimGuard) -> bool:
    """Whether what is there is what the guard asks for."""
    if held is None or is_over(held.ttl, guard.now_ms):
        return guard.fence is None
    return (
        held.status is ClaimStatus.IN_PROGRESS
        and held.fence == guard.fence
        and guard.lease_until_ms in (None, held.lease_until_ms)
    )


def begun(fresh: ClaimT, held: ClaimT | None, *, now_ms: int) -> Step[ClaimT]:
    """The claim that answers an attempt to begin; ``fresh`` is the one that it makes where none is there.

    The same attempt is given its fence again, for an answer may have been lost. A settled
    claim is the answer itself.

    Raises:
        IdempotencyMismatchError: the claim is of another input.
        InProgressError: another attempt holds it, or may by some clock.
        UnreconciledError: nobody knows whether the work was done.
    """
    stands = standing(held, now_ms=now_ms)
    if held is None or stands is Standing.FREE:
        return Step(claim=fresh, guard=ClaimGuard(now_ms=now_ms))
    if held.input_hash != fresh.input_hash:
        raise IdempotencyMismatchError("The id was used before with another input.")
    if stands is Standing.SETTLED:
        return Step(claim=held, guard=None)
    if stands is Standing.RUNNING and held.attempt_id == fresh.attempt_id:
        return Step(claim=held, guard=None)
    check_may_retry(held, now_ms=now_ms)
    taken = replace(fresh, fence=next_fence(held.fence, now_ms), started_at=held.started_at)
    return Step(claim=taken, guard=_untouched(held, now_ms))


def check_may_retry(held: LeasedClaim, *, now_ms: int) -> None:
    """Pass where a claim that is not settled may be taken over.

    Raises:
        InProgressError, UnreconciledError
    """
    match standing(held, now_ms=now_ms):
        case Standing.RUNNING:
            raise _in_progress(held, now_ms)
        case Standing.UNKNOWN:
            raise UnreconciledError(leaseUntil=iso(held.lease_until_ms))


def extended(
    held: ClaimT | None, *, fence: int, lease_until_ms: int, ttl: int, author: Author, now_ms: int
) -> Step[ClaimT]:
    """The claim with a longer lease; a heartbeat that comes late shortens none.

    Raises:
        NotFoundError, FencedError
    """
    current = _held_by(held, fence, now_ms)
    if current.lease_until_ms >= lease_until_ms:
        return Step(claim=current, guard=None)
    longer = replace(current, lease_until_ms=lease_until_ms, ttl=max(current.ttl, ttl), author=author)
    return Step(claim=longer, guard=ClaimGuard(now_ms=now_ms, fence=fence))


def settled(
    held: ClaimT | None, *, fence: int, status: ClaimStatus, outcome_hash: str, author: Author, now_ms: int
) -> Step[ClaimT]:
    """The claim with its outcome. The same outcome again is success, whoever brings it and however late.

    Raises:
        IdempotencyMismatchError: settled with another outcome, by the same attempt.
        NotFoundError, FencedError
    """
    if repeats(held, outcome_hash=outcome_hash):
        return Step(claim=_there(held), guard=None)
    if held is not None and held.fence == fence and standing(held, now_ms=now_ms) is Standing.SETTLED:
        raise IdempotencyMismatchError("The claim is settled with another outcome.")
    current = _held_by(held, fence, now_ms)
    after = replace(current, status=status, outcome_hash=outcome_hash, author=author)
    return Step(claim=after, guard=ClaimGuard(now_ms=now_ms, fence=fence))


def repeats(held: LeasedClaim | None, *, outcome_hash: str) -> bool:
    """Whether the claim is settled with this very outcome, which holds until it is reaped."""
    return held is not None and held.status in SETTLED and held.outcome_hash == outcome_hash


def reconciled(
    held: ClaimT | None, *, status: ClaimStatus | None, outcome_hash: str, author: Author, now_ms: int
) -> Step[ClaimT]:
    """What somebody found out about a claim of unknown outcome; ``status`` None: it may be tried again.

    The fence rises, so that who held the claim is out in any case.

    Raises:
        IdempotencyMismatchError: settled, and not so.
        InProgressError: its lease is running, or it may be begun again without this.
        NotFoundError
    """
    if status is not None and repeats(held, outcome_hash=outcome_hash):
        return Step(claim=_there(held), guard=None)
    stands = standing(held, now_ms=now_ms)
    current = _there(None if stands is Standing.FREE else held)
    if stands is Standing.SETTLED:
        raise IdempotencyMismatchError("The claim is settled with another outcome.")
    if stands is Standing.FORSAKEN and status is None:
        return Step(claim=current, guard=None)
    if stands is not Standing.UNKNOWN:
        raise _in_progress(current, now_ms)
    fence = next_fence(current.fence, now_ms)
    known = (
        replace(current, retry_safe=True, fence=fence, author=author)
        if status is None
        else replace(current, status=status, outcome_hash=outcome_hash, fence=fence, author=author)
    )
    return Step(claim=known, guard=_untouched(current, now_ms))


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


def _there(held: ClaimT | None) -> ClaimT:
    if held is None:
        raise NotFoundError("There is no such claim.")
    return held


def _held_by(held: ClaimT | None, fence: int, now_ms: int) -> ClaimT:
    """The claim, if it is in progress and the fence is its current one."""
    current = _there(None if standing(held, now_ms=now_ms) is Standing.FREE else held)
    if current.status in SETTLED or current.fence != fence:
        raise FencedError
    return current


def _untouched(held: LeasedClaim, now_ms: int) -> ClaimGuard:
    """A heartbeat meanwhile would show that the lease is not over after all."""
    return ClaimGuard(now_ms=now_ms, fence=held.fence, lease_until_ms=held.lease_until_ms)


def _in_progress(held: LeasedClaim, now_ms: int) -> InProgressError:
    """Tells when the lease ends, if nothing renews it."""
    left = -(-(held.lease_until_ms - now_ms) // MILLIS)
    return InProgressError(leaseUntil=iso(held.lease_until_ms), retryAfter=max(1, left))
