"""The transitions of the claim machine: begin, extend, settle, reconcile."""

from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.claim import (
    LEASE_SKEW_MARGIN_MS,
    ClaimGuard,
    ClaimStatus,
    LeasedClaim,
    Standing,
    admits,
    claim_ttl,
    lease_expired,
    next_fence,
    standing,
)
from session_store.domain.claim_steps import begun, extended, reconciled, settled
from session_store.domain.times import DAY_SECONDS
from session_store.errors import (
    FencedError,
    IdempotencyMismatchError,
    InProgressError,
    NotFoundError,
    StoreError,
    UnreconciledError,
)
from tests.support.samples import AUTHOR, NOW_MS, NOW_SECONDS, OWNER

LEASE = 60_000
OVER = NOW_MS + LEASE + LEASE_SKEW_MARGIN_MS
EXPIRED = NOW_MS + LEASE + 2 * DAY_SECONDS * 1000


def a_claim(**changes: Any) -> LeasedClaim:
    claim = LeasedClaim(
        owner=OWNER,
        status=ClaimStatus.IN_PROGRESS,
        input_hash="input",
        started_at=NOW_MS,
        ttl=claim_ttl(lease_until_ms=NOW_MS + LEASE),
        author=AUTHOR,
        attempt_id="first",
        fence=NOW_MS,
        lease_until_ms=NOW_MS + LEASE,
        retry_safe=False,
    )
    return replace(claim, **changes)


def another(now_ms: int, **changes: Any) -> LeasedClaim:
    """The claim that a second attempt would make at ``now_ms``."""
    return a_claim(
        **{
            "attempt_id": "second",
            "fence": now_ms,
            "started_at": now_ms,
            "lease_until_ms": now_ms + LEASE,
            "ttl": claim_ttl(lease_until_ms=now_ms + LEASE),
            **changes,
        }
    )


DONE = a_claim(status=ClaimStatus.COMPLETED, outcome_hash="outcome")


def complete(
    held: LeasedClaim | None, *, fence: int = NOW_MS, outcome: str = "outcome", at: int = NOW_MS
) -> Any:
    return settled(
        held, fence=fence, status=ClaimStatus.COMPLETED, outcome_hash=outcome, author=AUTHOR, now_ms=at
    )


def reconcile(
    held: LeasedClaim | None, status: ClaimStatus | None, at: int = OVER, *, fence: int | None = None
) -> Any:
    return reconciled(held, status=status, outcome_hash="outcome", author=AUTHOR, now_ms=at, fence=fence)


@pytest.mark.parametrize(
    ("held", "now_ms", "expected"),
    [
        (None, NOW_MS, Standing.ABSENT),
        (a_claim(ttl=NOW_SECONDS), NOW_MS, Standing.ABSENT),
        (a_claim(), NOW_MS, Standing.RUNNING),
        (a_claim(), OVER - 1, Standing.RUNNING),
        (a_claim(), OVER, Standing.UNKNOWN),
        (a_claim(retry_safe=True), OVER - 1, Standing.RUNNING),
        (a_claim(retry_safe=True), OVER, Standing.AVAILABLE),
        (DONE, OVER, Standing.SETTLED),
        (replace(DONE, ttl=NOW_SECONDS), NOW_MS, Standing.ABSENT),
    ],
)
def test_the_standing_of_a_claim_follows_from_its_status_lease_and_time(
    held: LeasedClaim | None, now_ms: int, expected: Standing
) -> None:
    assert standing(held, now_ms=now_ms) is expected


@pytest.mark.parametrize("held", [None, a_claim(ttl=NOW_SECONDS), replace(DONE, ttl=NOW_SECONDS)])
def test_an_absent_claim_begins_as_the_fresh_one(held: LeasedClaim | None) -> None:
    fresh = another(NOW_MS, input_hash="other")
    step = begun(fresh, held, now_ms=NOW_MS)
    assert (step.claim, step.guard) == (fresh, ClaimGuard(now_ms=NOW_MS))
    assert admits(held, ClaimGuard(now_ms=NOW_MS))


@pytest.mark.parametrize("now_ms", [NOW_MS, NOW_MS + LEASE - 1])
def test_the_same_attempt_gets_the_same_fence_again(now_ms: int) -> None:
    step = begun(another(now_ms, attempt_id="first"), a_claim(), now_ms=now_ms)
    assert (step.claim, step.guard) == (a_claim(), None)


@pytest.mark.parametrize("now_ms", [NOW_MS + LEASE, OVER - 1])
def test_the_same_attempt_gets_no_expired_lease(now_ms: int) -> None:
    fresh = another(now_ms, attempt_id="first")
    step = begun(fresh, a_claim(), now_ms=now_ms)
    assert (step.claim.fence, step.claim.lease_until_ms) == (NOW_MS, fresh.lease_until_ms)
    assert step.claim.lease_until_ms > now_ms
    assert step.guard == ClaimGuard(now_ms=now_ms, fence=NOW_MS, lease_until_ms=NOW_MS + LEASE)


def test_the_same_attempt_has_no_privilege_once_its_lease_has_expired() -> None:
    with pytest.raises(UnreconciledError):
        begun(another(OVER, attempt_id="first"), a_claim(), now_ms=OVER)
    step = begun(another(OVER, attempt_id="first"), a_claim(retry_safe=True), now_ms=OVER)
    assert step.claim.fence > NOW_MS


@pytest.mark.parametrize("retry_safe", [True, False])
def test_a_refused_begin_says_when_the_lease_expires(*, retry_safe: bool) -> None:
    with pytest.raises(InProgressError) as caught:
        begun(another(NOW_MS + 500), a_claim(retry_safe=retry_safe), now_ms=NOW_MS + 500)
    assert caught.value.facts == {"leaseUntil": "2027-01-15T08:01:00.500Z", "retryAfter": 64}


def test_a_lease_within_the_margin_is_retried_after_the_rest_of_it() -> None:
    with pytest.raises(InProgressError) as caught:
        begun(another(OVER - 1), a_claim(), now_ms=OVER - 1)
    assert caught.value.facts["retryAfter"] == 1


def test_a_retry_safe_claim_is_taken_over_with_a_higher_fence_unless_it_is_renewed() -> None:
    held = a_claim(retry_safe=True)
    step = begun(another(OVER), held, now_ms=OVER)
    assert step.claim == another(OVER, started_at=NOW_MS)  # the first attempt's start
    assert step.guard == ClaimGuard(now_ms=OVER, fence=NOW_MS, lease_until_ms=NOW_MS + LEASE)
    assert admits(held, step.guard)
    assert not admits(replace(held, lease_until_ms=NOW_MS + LEASE + 1), step.guard)
    assert not admits(replace(held, fence=NOW_MS + 1), step.guard)


def test_a_fence_rises_even_on_a_slow_clock() -> None:
    held = a_claim(retry_safe=True, fence=OVER + 5)
    assert begun(another(OVER), held, now_ms=OVER).claim.fence == OVER + 6
    assert (next_fence(7, 5), next_fence(7, 9)) == (8, 9)


def test_an_unsafe_claim_must_be_reconciled_first() -> None:
    with pytest.raises(UnreconciledError):
        begun(another(OVER, retry_safe=True), a_claim(), now_ms=OVER)


@pytest.mark.parametrize("held", [a_claim(), DONE, a_claim(retry_safe=True)])
@pytest.mark.parametrize("now_ms", [NOW_MS, OVER])
def test_another_input_is_refused_whatever_has_become_of_the_claim(held: LeasedClaim, now_ms: int) -> None:
    with pytest.raises(IdempotencyMismatchError):
        begun(another(now_ms, input_hash="other"), held, now_ms=now_ms)


def test_a_settled_claim_is_the_answer() -> None:
    assert begun(another(OVER), DONE, now_ms=OVER).claim == DONE
    assert begun(another(OVER), DONE, now_ms=OVER).guard is None


@pytest.mark.parametrize("at", [NOW_MS, OVER])
def test_the_holder_of_the_current_fence_may_go_on_and_finish(at: int) -> None:
    longer = extended(a_claim(), fence=NOW_MS, lease_until_ms=at + 90_000, ttl=7, author=AUTHOR, now_ms=at)
    assert longer.claim == a_claim(lease_until_ms=at + 90_000)
    assert longer.guard == ClaimGuard(now_ms=at, fence=NOW_MS, lease_until_ms=NOW_MS + LEASE)
    done = complete(a_claim(), at=at)
    assert (done.claim, done.guard) == (DONE, ClaimGuard(now_ms=at, fence=NOW_MS))


def test_a_heartbeat_keeps_the_claim_longer_and_never_shortens_a_lease() -> None:
    ttl = claim_ttl(lease_until_ms=NOW_MS + 2 * LEASE)
    longer = extended(
        a_claim(), fence=NOW_MS, lease_until_ms=NOW_MS + 2 * LEASE, ttl=ttl, author=AUTHOR, now_ms=NOW_MS
    )
    assert longer.claim.ttl == ttl
    late = extended(
        longer.claim, fence=NOW_MS, lease_until_ms=NOW_MS + LEASE, ttl=0, author=AUTHOR, now_ms=NOW_MS
    )
    assert (late.claim, late.guard) == (longer.claim, None)


def test_of_two_concurrent_heartbeats_the_later_lease_wins() -> None:
    leases = (NOW_MS + 2 * LEASE, NOW_MS + 3 * LEASE)
    shorter, longer = (
        extended(a_claim(), fence=NOW_MS, lease_until_ms=until, ttl=0, author=AUTHOR, now_ms=NOW_MS)
        for until in leases
    )
    assert longer.guard is not None
    assert shorter.guard is not None
    assert admits(a_claim(), longer.guard)
    assert not admits(longer.claim, shorter.guard)


@pytest.mark.parametrize("held", [a_claim(fence=NOW_MS + 1), replace(DONE, fence=NOW_MS + 1)])
def test_a_stale_holder_can_neither_go_on_nor_finish(held: LeasedClaim) -> None:
    with pytest.raises(FencedError):
        extended(held, fence=NOW_MS, lease_until_ms=OVER, ttl=0, author=AUTHOR, now_ms=NOW_MS)
    with pytest.raises(FencedError):
        complete(held, outcome="other")


def test_there_is_nothing_to_extend_in_a_settled_claim() -> None:
    with pytest.raises(FencedError):
        extended(DONE, fence=NOW_MS, lease_until_ms=OVER, ttl=0, author=AUTHOR, now_ms=NOW_MS)


@pytest.mark.parametrize("at", [NOW_MS, OVER, EXPIRED])
@pytest.mark.parametrize("fence", [NOW_MS, NOW_MS - 1])
def test_the_same_outcome_again_succeeds_at_any_time_from_any_attempt(at: int, fence: int) -> None:
    assert (complete(DONE, at=at, fence=fence).claim, complete(DONE, at=at).guard) == (DONE, None)


def test_another_outcome_of_the_same_attempt_is_refused_as_such() -> None:
    with pytest.raises(IdempotencyMismatchError):
        complete(DONE, outcome="other")


@pytest.mark.parametrize("held", [None, a_claim(), DONE])
def test_an_expired_claim_answers_only_its_own_replay(held: LeasedClaim | None) -> None:
    with pytest.raises(NotFoundError):
        complete(held, outcome="other", at=EXPIRED)
    with pytest.raises(NotFoundError):
        extended(held, fence=NOW_MS, lease_until_ms=OVER, ttl=0, author=AUTHOR, now_ms=EXPIRED)
    with pytest.raises(NotFoundError):
        reconcile(held, None, EXPIRED)


def test_a_claim_begun_after_an_expired_one_fences_the_first_worker() -> None:
    anew = begun(another(EXPIRED), a_claim(), now_ms=EXPIRED).claim
    with pytest.raises(FencedError):
        complete(anew, at=EXPIRED)


@pytest.mark.parametrize("status", [ClaimStatus.COMPLETED, ClaimStatus.FAILED])
def test_reconciling_settles_an_unknown_outcome_and_fences_the_holder(status: ClaimStatus) -> None:
    step = reconcile(a_claim(), status)
    assert step.claim == a_claim(status=status, outcome_hash="outcome", fence=OVER)
    assert step.guard == ClaimGuard(now_ms=OVER, fence=NOW_MS, lease_until_ms=NOW_MS + LEASE)
    assert reconcile(step.claim, status).guard is None
    with pytest.raises(FencedError):
        complete(step.claim, outcome="mine", at=OVER)


def test_reconciling_may_allow_another_attempt() -> None:
    step = reconcile(a_claim(), None)
    assert step.claim == a_claim(retry_safe=True, fence=OVER)
    with pytest.raises(FencedError):
        complete(step.claim, at=OVER)
    assert begun(another(OVER), step.claim, now_ms=OVER).claim.fence == OVER + 1


def test_allowing_another_attempt_is_a_replay_until_one_has_begun() -> None:
    allowed = reconcile(a_claim(), None, fence=NOW_MS).claim
    again = reconcile(allowed, None, fence=NOW_MS)
    assert (again.claim, again.replayed) == (allowed, True)
    with pytest.raises(FencedError):
        reconcile(allowed, None, fence=allowed.fence + 1)
    with pytest.raises(FencedError):
        reconcile(allowed, ClaimStatus.COMPLETED, fence=NOW_MS)
    begun_since = begun(another(OVER), allowed, now_ms=OVER).claim
    with pytest.raises(FencedError):
        reconcile(begun_since, None, fence=NOW_MS)


def test_an_outcome_may_still_be_reconciled_after_a_retry_was_allowed() -> None:
    tried = reconcile(a_claim(), None).claim
    step = reconcile(tried, ClaimStatus.COMPLETED)
    assert step.claim == replace(tried, status=ClaimStatus.COMPLETED, outcome_hash="outcome", fence=OVER + 1)


@pytest.mark.parametrize("status", [None, ClaimStatus.COMPLETED])
def test_reconciling_one_attempt_does_not_touch_a_later_one(
    status: ClaimStatus | None,
) -> None:
    since = a_claim(fence=NOW_MS + 1)
    with pytest.raises(FencedError):
        reconcile(since, status, fence=NOW_MS)
    assert reconcile(since, status, fence=NOW_MS + 1).claim.fence == OVER
    assert (
        reconcile(reconcile(since, ClaimStatus.FAILED).claim, ClaimStatus.FAILED, fence=NOW_MS).guard is None
    )


@pytest.mark.parametrize(
    ("held", "status", "at", "error"),
    [
        (a_claim(), None, OVER - 1, InProgressError),
        (a_claim(), ClaimStatus.COMPLETED, NOW_MS, InProgressError),
        (replace(DONE, outcome_hash="other"), ClaimStatus.COMPLETED, OVER, IdempotencyMismatchError),
        (DONE, None, OVER, IdempotencyMismatchError),
        (None, None, OVER, NotFoundError),
    ],
)
def test_a_held_or_settled_claim_cannot_be_reconciled(
    held: LeasedClaim | None, status: ClaimStatus | None, at: int, error: type[StoreError]
) -> None:
    with pytest.raises(error):
        reconcile(held, status, at)


@pytest.mark.parametrize(
    ("held", "admitted"),
    [
        (a_claim(), True),
        (a_claim(lease_until_ms=OVER), True),
        (a_claim(fence=NOW_MS + 1), False),
        (DONE, False),
        (a_claim(ttl=NOW_SECONDS), False),
        (None, False),
    ],
)
def test_a_guard_admits_the_claim_that_it_names(held: LeasedClaim | None, *, admitted: bool) -> None:
    assert admits(held, ClaimGuard(now_ms=NOW_MS, fence=NOW_MS)) is admitted


@pytest.mark.parametrize("held", [a_claim(), DONE])
def test_a_stored_claim_fails_the_guard_of_an_absent_one(held: LeasedClaim) -> None:
    assert not admits(held, ClaimGuard(now_ms=NOW_MS))


def test_a_claim_stays_at_least_a_day_after_its_lease() -> None:
    assert claim_ttl(lease_until_ms=NOW_MS) == NOW_SECONDS + 1 + DAY_SECONDS
    ttl = NOW_SECONDS + 2 * DAY_SECONDS
    assert claim_ttl(lease_until_ms=NOW_MS, at_least=ttl) == ttl


def test_a_lease_counts_as_held_for_the_skew_margin_after_its_expiry() -> None:
    free = NOW_MS + LEASE_SKEW_MARGIN_MS
    assert (lease_expired(NOW_MS, free - 1), lease_expired(NOW_MS, free)) == (False, True)


def test_the_skew_margin_is_four_seconds() -> None:
    # Pinned on purpose: clients and documents rely on it.
    assert LEASE_SKEW_MARGIN_MS == 4000
