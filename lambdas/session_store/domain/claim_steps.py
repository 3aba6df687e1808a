"""The steps of the claim machine.

A step takes what is there and the time, and says what is to be written and what must
still be there for it: an adapter makes a condition of that, and whoever is refused
judges anew by what was there.
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
    """The claim that answers an attempt to begin; ``fresh`` is the one that it makes where none is there.

    The same attempt is given its fence again, for an answer may have been lost. A settled
    claim is the answer itself.

    Raises:
        IdempotencyMismatchError: the claim is of another input.
        InProgressError: another attempt holds it, or may by some clock.
        UnreconciledError: nobody knows whether the work was done.
    """
    stands = standing(held, now_ms=now_ms)
    if held is None or stands is Standing.ABSENT:
        return Step(claim=fresh, guard=ClaimGuard(now_ms=now_ms))
    if held.input_hash != fresh.input_hash:
        raise IdempotencyMismatchError("The id was used before with another input.")
    if stands is Standing.SETTLED:
        return Step(claim=held, guard=None)
    if stands is Standing.RUNNING and held.attempt_id == fresh.attempt_id:
        return _asked_again(held, fresh, now_ms)
    check_may_retry(held, now_ms=now_ms)
    taken = replace(fresh, fence=next_fence(held.fence, now_ms), started_at=held.started_at)
    return Step(claim=taken, guard=guard_unchanged(held, now_ms))


def _asked_again(held: BegunT, fresh: BegunT, now_ms: int) -> Step[BegunT]:
    """A lease that is over is given to nobody: as long as no other has the work, it is renewed."""
    if held.lease_until_ms > now_ms:
        return Step(claim=held, guard=None)
    renewed = replace(held, lease_until_ms=fresh.lease_until_ms, ttl=max(held.ttl, fresh.ttl))
    return Step(claim=renewed, guard=guard_unchanged(held, now_ms))


def check_may_retry(held: Leased, *, now_ms: int) -> None:
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
    held: ClaimT | None,
    *,
    fence: int,
    lease_until_ms: int,
    author: Author,
    now_ms: int,
    ttl: int | None = None,
) -> Step[ClaimT]:
    """The claim with a longer lease; a heartbeat that comes late shortens none. ``ttl``: at the least.

    Raises:
        NotFoundError, FencedError
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
    """The claim with its outcome. The same outcome again is success, whoever brings it and however late.

    A ``status`` that is not the end lets others have it.

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
    return Step(claim=after, guard=ClaimGuard(now_ms=now_ms, fence=fence, status=current.status))


def repeats(held: Leased | None, *, outcome_hash: str) -> bool:
    """Whether an attempt has come to this very outcome, which holds until the next one or the reaping."""
    return held is not None and held.outcome_hash == outcome_hash


def overruled(
    held: ClaimT, *, status: StrEnum, outcome_hash: str, author: Author, now_ms: int
) -> Step[ClaimT]:
    """The end that somebody gives it who does not hold it. The fence rises: who did is out in any case."""
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
    """What somebody found out about a claim that nobody holds; ``status`` None: it may be tried again.

    ``fence``: of the attempt that was looked into, None for whichever there is. The fence rises, so that
    who held the claim is out in any case.

    Raises:
        IdempotencyMismatchError: settled, and not so.
        FencedError: another attempt has come since.
        InProgressError: its lease is running.
        NotFoundError
    """
    if status is not None and repeats(held, outcome_hash=outcome_hash):
        return Step(claim=_there(held), guard=None)
    stands = standing(held, now_ms=now_ms)
    current = _there(None if stands is Standing.ABSENT else held)
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


def _there(held: ClaimT | None) -> ClaimT:
    if held is None:
        raise NotFoundError("There is no such claim.")
    return held


def _held_by(held: ClaimT | None, fence: int, now_ms: int) -> ClaimT:
    """The claim, if it is in progress and the fence is its current one."""
    current = _there(None if standing(held, now_ms=now_ms) is Standing.ABSENT else held)
    if not current.is_held or current.fence != fence:
        raise FencedError
    return current


def _in_progress(held: Leased, now_ms: int) -> InProgressError:
    """Tells when the lease ends, if nothing renews it, and how long it is until another may try."""
    left = -(-(held.lease_until_ms + LEASE_SKEW_MARGIN_MS - now_ms) // MILLIS)
    return InProgressError(leaseUntil=iso(held.lease_until_ms), retryAfter=max(1, left))
