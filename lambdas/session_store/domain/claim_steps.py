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


def begun(fresh: BegunT, stored: BegunT | None, *, now_ms: int) -> Step[BegunT]:
    """The claim after an attempt to begin: ``fresh`` if there is none, or the stored one.

    The same attempt gets the same fence again, because the first response may have been lost. A settled
    claim is the answer itself.

    Raises:
        IdempotencyMismatchError: the stored claim has another input.
        InProgressError: another attempt holds the lease, on this clock or a slower one.
        UnreconciledError: the lease has expired, and the work may have been done.
    """
    current_standing = standing(stored, now_ms=now_ms)
    if stored is None or current_standing is Standing.ABSENT:
        return Step(claim=fresh, guard=ClaimGuard(now_ms=now_ms))
    if stored.input_hash != fresh.input_hash:
        raise IdempotencyMismatchError("The id was used before with another input.")
    if current_standing is Standing.SETTLED:
        return Step(claim=stored, guard=None)
    if current_standing is Standing.RUNNING and stored.attempt_id == fresh.attempt_id:
        return _begun_again(stored, fresh, now_ms)
    check_may_retry(stored, now_ms=now_ms)
    taken = replace(fresh, fence=next_fence(stored.fence, now_ms), started_at=stored.started_at)
    return Step(claim=taken, guard=guard_unchanged(stored, now_ms))


def _begun_again(stored: BegunT, fresh: BegunT, now_ms: int) -> Step[BegunT]:
    """The claim of an attempt that begins again: a lease that has expired meanwhile is renewed."""
    if stored.lease_until_ms > now_ms:
        return Step(claim=stored, guard=None)
    renewed = replace(stored, lease_until_ms=fresh.lease_until_ms, ttl=max(stored.ttl, fresh.ttl))
    return Step(claim=renewed, guard=guard_unchanged(stored, now_ms))


def check_may_retry(stored: Leased, *, now_ms: int) -> None:
    """Pass if an unsettled claim may be taken over.

    Raises:
        InProgressError: an attempt holds the lease.
        UnreconciledError: the lease has expired, and the work may have been done.
    """
    match standing(stored, now_ms=now_ms):
        case Standing.RUNNING:
            raise _in_progress(stored, now_ms)
        case Standing.UNKNOWN:
            raise UnreconciledError(leaseUntil=iso(stored.lease_until_ms))


def extended(
    stored: ClaimT | None,
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
    current = _held_by(stored, fence, now_ms)
    if current.lease_until_ms >= lease_until_ms:
        return Step(claim=current, guard=None)
    new_ttl = current.ttl if current.ttl is None or ttl is None else max(current.ttl, ttl)
    longer = replace(current, lease_until_ms=lease_until_ms, ttl=new_ttl, author=author)
    return Step(claim=longer, guard=guard_unchanged(current, now_ms))


def settled(
    stored: ClaimT | None, *, fence: int, status: StrEnum, outcome_hash: str, author: Author, now_ms: int
) -> Step[ClaimT]:
    """The claim with the outcome of the attempt that holds ``fence``.

    The same outcome again succeeds, from any attempt and at any time. With a ``status`` that is not final,
    the next attempt may take the work.

    Raises:
        IdempotencyMismatchError: the same attempt settled it with another outcome.
        NotFoundError: there is no claim.
        FencedError: ``fence`` is not the current one, or the claim is settled.
    """
    if repeats(stored, outcome_hash=outcome_hash):
        return Step(claim=_existing(stored), guard=None)
    if stored is not None and stored.fence == fence and standing(stored, now_ms=now_ms) is Standing.SETTLED:
        raise IdempotencyMismatchError("The claim is settled with another outcome.")
    current = _held_by(stored, fence, now_ms)
    after = replace(current, status=status, outcome_hash=outcome_hash, author=author)
    return Step(claim=after, guard=ClaimGuard(now_ms=now_ms, fence=fence, status=current.status))


def repeats(stored: Leased | None, *, outcome_hash: str) -> bool:
    """Whether the last attempt had this very outcome."""
    return stored is not None and stored.outcome_hash == outcome_hash


def overruled(
    stored: ClaimT, *, status: StrEnum, outcome_hash: str, author: Author, now_ms: int
) -> Step[ClaimT]:
    """The claim settled by a caller that does not hold it. The fence rises, which shuts out the holder."""
    fence = next_fence(stored.fence, now_ms)
    after = replace(stored, status=status, outcome_hash=outcome_hash, fence=fence, author=author)
    return Step(claim=after, guard=guard_unchanged(stored, now_ms))


def reconciled(
    stored: BegunT | None,
    *,
    status: ClaimStatus | None,
    outcome_hash: str,
    author: Author,
    now_ms: int,
    fence: int | None = None,
) -> Step[BegunT]:
    """The claim after a caller has found out the outcome of an expired attempt; ``status`` None: try again.

    ``fence`` is the fence of the attempt that was investigated; None: of any. The fence rises, which shuts
    out the attempt that held the claim. Allowing another attempt again, after the response was lost, is a
    replay for as long as another attempt is allowed.

    Raises:
        IdempotencyMismatchError: the claim is settled with another outcome.
        FencedError: another attempt has taken over since.
        InProgressError: an attempt holds the lease.
        NotFoundError: there is no claim.
    """
    if status is not None and repeats(stored, outcome_hash=outcome_hash):
        return Step(claim=_existing(stored), guard=None)
    current_standing = standing(stored, now_ms=now_ms)
    current = _existing(None if current_standing is Standing.ABSENT else stored)
    if current_standing is Standing.SETTLED:
        raise IdempotencyMismatchError("The claim is settled with another outcome.")
    if fence is not None and fence != current.fence:
        if status is None and current_standing is Standing.AVAILABLE and fence < current.fence:
            return Step(claim=current, guard=None)
        raise FencedError
    if current_standing is Standing.RUNNING:
        raise _in_progress(current, now_ms)
    if status is not None:
        return overruled(current, status=status, outcome_hash=outcome_hash, author=author, now_ms=now_ms)
    freed = replace(current, retry_safe=True, fence=next_fence(current.fence, now_ms), author=author)
    return Step(claim=freed, guard=guard_unchanged(current, now_ms))


def _existing(stored: ClaimT | None) -> ClaimT:
    if stored is None:
        raise NotFoundError("There is no such claim.")
    return stored


def _held_by(stored: ClaimT | None, fence: int, now_ms: int) -> ClaimT:
    """The claim, if it is in progress under this fence."""
    current = _existing(None if standing(stored, now_ms=now_ms) is Standing.ABSENT else stored)
    if not current.is_held or current.fence != fence:
        raise FencedError
    return current


def _in_progress(stored: Leased, now_ms: int) -> InProgressError:
    """The error with the lease expiry, and the seconds after which another attempt may take over."""
    left = -(-(stored.lease_until_ms + LEASE_SKEW_MARGIN_MS - now_ms) // MILLIS)
    return InProgressError(leaseUntil=iso(stored.lease_until_ms), retryAfter=max(1, left))
