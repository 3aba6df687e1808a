"""The transitions of the claim machine.

Each takes the stored claim and the time, and returns the claim to write with the guard to write it under.
An adapter turns the guard into a condition. If the write is refused, the caller takes the step again from
what was stored.
"""

from enum import StrEnum

from msgspec.structs import replace

from session_store.domain.claim import (
    LEASE_SKEW_MARGIN_MS,
    BegunT,
    ClaimGuard,
    ClaimStatus,
    ClaimT,
    Leased,
    Standing,
    Step,
    guard_unchanged,
    next_fence,
    standing,
)
from session_store.domain.session import Author
from session_store.domain.times import MILLIS, iso
from session_store.errors import (
    FencedError,
    IdempotencyMismatchError,
    InProgressError,
    NotFoundError,
    UnreconciledError,
)


def begun(fresh: BegunT, held: BegunT | None, *, now_ms: int) -> Step[BegunT]:
    """The claim after an attempt to begin: ``fresh`` if there is none, or the stored one.

    The same attempt gets the same fence again, because the first response may have been lost. A settled
    claim is the answer itself.

    Raises:
        IdempotencyMismatchError: the stored claim has another input.
        InProgressError: another attempt holds the lease, on this clock or a slower one.
        UnreconciledError: the lease has expired, and the work may have been done.
    """
    stands = standing(held, now_ms=now_ms)
    if held is None or stands is Standing.ABSENT:
        return Step(claim=fresh, guard=ClaimGuard(now_ms=now_ms))
    if held.input_hash != fresh.input_hash:
        raise IdempotencyMismatchError("The id was used before with another input.")
    if stands is Standing.SETTLED:
        return Step(claim=held, guard=None)
    if stands is Standing.RUNNING and held.attempt_id == fresh.attempt_id:
        return _begun_again(held, fresh, now_ms)
    check_may_retry(held, now_ms=now_ms)
    taken = replace(fresh, fence=next_fence(held.fence, now_ms), started_at=held.started_at)
    return Step(claim=taken, guard=guard_unchanged(held, now_ms))


def _begun_again(held: BegunT, fresh: BegunT, now_ms: int) -> Step[BegunT]:
    """The claim of an attempt that begins again: a lease that has expired meanwhile is renewed."""
    if held.lease_until_ms > now_ms:
        return Step(claim=held, guard=None)
    renewed = replace(held, lease_until_ms=fresh.lease_until_ms, ttl=max(held.ttl, fresh.ttl))
    return Step(claim=renewed, guard=guard_unchanged(held, now_ms))


def check_may_retry(held: Leased, *, now_ms: int) -> None:
    """Pass if an unsettled claim may be taken over.

    Raises:
        InProgressError: an attempt holds the lease.
        UnreconciledError: the lease has expired, and the work may have been done.
    """
    match standing(held, now_ms=now_ms):
        case Standing.RUNNING:
            raise _in_progress(held, now_ms)
        case Standing.UNKNOWN:
            raise UnreconciledError(leaseUntil=iso(held.lease_until_ms))


def extended(
    held: ClaimT | None,
    *,
    fence: int,
    lease_until_ms: int,
    author: Author,
    now_ms: int,
    ttl: int | None = None,
) -> Step[ClaimT]:
    """The claim with a longer lease. A late heartbeat never shortens it, and ``ttl`` only ever rises.

    Raises:
        NotFoundError: there is no claim.
        FencedError: ``fence`` is not the current one, or the claim is not in progress.
    """
    current = _held_by(held, fence, now_ms)
    if current.lease_until_ms >= lease_until_ms:
        return Step(claim=current, guard=None)
    ends = current.ttl if current.ttl is None or ttl is None else max(current.ttl, ttl)
    longer = replace(current, lease_until_ms=lease_until_ms, ttl=ends, author=author)
    return Step(claim=longer, guard=guard_unchanged(current, now_ms))


def settled(
    held: ClaimT | None, *, fence: int, status: StrEnum, outcome_hash: str, author: Author, now_ms: int
) -> Step[ClaimT]:
    """The claim with the outcome of the attempt that holds ``fence``.

    The same outcome again succeeds, from any attempt and at any time. With a ``status`` that is not final,
    the next attempt may take the work.

    Raises:
        IdempotencyMismatchError: the same attempt settled it with another outcome.
        NotFoundError: there is no claim.
        FencedError: ``fence`` is not the current one, or the claim is settled.
    """
    if repeats(held, outcome_hash=outcome_hash):
        return Step(claim=_existing(held), guard=None)
    if held is not None and held.fence == fence and standing(held, now_ms=now_ms) is Standing.SETTLED:
        raise IdempotencyMismatchError("The claim is settled with another outcome.")
    current = _held_by(held, fence, now_ms)
    after = replace(current, status=status, outcome_hash=outcome_hash, author=author)
    return Step(claim=after, guard=ClaimGuard(now_ms=now_ms, fence=fence, status=current.status))


def repeats(held: Leased | None, *, outcome_hash: str) -> bool:
    """Whether the last attempt had this very outcome."""
    return held is not None and held.outcome_hash == outcome_hash


def overruled(
    held: ClaimT, *, status: StrEnum, outcome_hash: str, author: Author, now_ms: int
) -> Step[ClaimT]:
    """The claim settled by a caller that does not hold it. The fence rises, which shuts out the holder."""
    fence = next_fence(held.fence, now_ms)
    after = replace(held, status=status, outcome_hash=outcome_hash, fence=fence, author=author)
    return Step(claim=after, guard=guard_unchanged(held, now_ms))


def reconciled(
    held: BegunT | None,
    *,
    status: ClaimStatus | None,
    outcome_hash: str,
    author: Author,
    now_ms: int,
    fence: int | None = None,
) -> Step[BegunT]:
    """The claim after a caller has found out the outcome of an expired attempt; ``status`` None: try again.

    ``fence`` is the fence of the attempt that was investigated; None: of any. The fence rises, which shuts
    out the attempt that held the claim.

    Raises:
        IdempotencyMismatchError: the claim is settled with another outcome.
        FencedError: another attempt has taken over since.
        InProgressError: an attempt holds the lease.
        NotFoundError: there is no claim.
    """
    if status is not None and repeats(held, outcome_hash=outcome_hash):
        return Step(claim=_existing(held), guard=None)
    stands = standing(held, now_ms=now_ms)
    current = _existing(None if stands is Standing.ABSENT else held)
    if stands is Standing.SETTLED:
        raise IdempotencyMismatchError("The claim is settled with another outcome.")
    if fence not in (None, current.fence):
        raise FencedError
    if stands is Standing.RUNNING:
        raise _in_progress(current, now_ms)
    if status is not None:
        return overruled(current, status=status, outcome_hash=outcome_hash, author=author, now_ms=now_ms)
    freed = replace(current, retry_safe=True, fence=next_fence(current.fence, now_ms), author=author)
    return Step(claim=freed, guard=guard_unchanged(current, now_ms))


def _existing(held: ClaimT | None) -> ClaimT:
    if held is None:
        raise NotFoundError("There is no such claim.")
    return held


def _held_by(held: ClaimT | None, fence: int, now_ms: int) -> ClaimT:
    """The claim, if it is in progress under this fence."""
    current = _existing(None if standing(held, now_ms=now_ms) is Standing.ABSENT else held)
    if not current.is_held or current.fence != fence:
        raise FencedError
    return current


def _in_progress(held: Leased, now_ms: int) -> InProgressError:
    """The error with the lease expiry, and the seconds after which another attempt may take over."""
    left = -(-(held.lease_until_ms + LEASE_SKEW_MARGIN_MS - now_ms) // MILLIS)
    return InProgressError(leaseUntil=iso(held.lease_until_ms), retryAfter=max(1, left))
