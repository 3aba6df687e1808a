"""Invariants of the claim machine with workers whose clocks differ and whose reads are stale."""

from dataclasses import dataclass, field, replace
from typing import Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from session_store.domain.claim import (
    LEASE_SKEW_MARGIN_MS,
    SETTLED,
    ClaimStatus,
    LeasedClaim,
    Step,
    admits,
    claim_ttl,
)
from session_store.domain.claim_steps import begun, extended, reconciled, settled
from session_store.errors import StoreError
from tests.support.samples import AUTHOR, NOW_MS, OWNER

WORKERS: Final = 3
SKEW_MS: Final = 2000
LEASES: Final = st.sampled_from([1, 2, 5])
WORKER: Final = st.integers(0, WORKERS - 1)


@dataclass
class Worker:
    """A worker. ``held``: the claim that it was given; ``seen``: the claim as it last read it."""

    skew: int
    held: LeasedClaim | None = None
    seen: LeasedClaim | None = None
    pending: Step[LeasedClaim] | None = None
    is_begin: bool = False


@dataclass
class Table:
    claim: LeasedClaim | None = None
    fences: list[int] = field(default_factory=list)
    outcome: LeasedClaim | None = None

    def put(self, step: Step[LeasedClaim]) -> bool:
        assert step.guard is not None
        if not admits(self.claim, step.guard):
            return False
        self.claim = step.claim
        self.fences.append(step.claim.fence)
        return True


class ClaimMachine(RuleBasedStateMachine):
    @initialize(skews=st.lists(st.integers(-SKEW_MS, SKEW_MS), min_size=WORKERS, max_size=WORKERS))
    def start(self, skews: list[int]) -> None:
        self.now = NOW_MS
        self.table = Table()
        self.workers = [Worker(skew) for skew in skews]
        self.attempts = 0

    def clock(self, worker: Worker) -> int:
        return self.now + worker.skew

    @rule(worker=WORKER)
    def read(self, worker: int) -> None:
        self.workers[worker].seen = self.table.claim

    @rule(worker=WORKER, lease=LEASES, retry_safe=st.booleans())
    def ask_to_begin(self, worker: int, lease: int, *, retry_safe: bool) -> None:
        me = self.workers[worker]
        now = self.clock(me)
        self.attempts += 1
        until = now + lease * 1000
        fresh = LeasedClaim(
            owner=OWNER,
            status=ClaimStatus.IN_PROGRESS,
            input_hash="input",
            started_at=now,
            ttl=claim_ttl(lease_until_ms=until),
            author=AUTHOR,
            attempt_id=f"attempt-{self.attempts}",
            fence=now,
            lease_until_ms=until,
            retry_safe=retry_safe,
        )
        try:
            me.pending, me.is_begin = begun(fresh, me.seen, now_ms=now), True
        except StoreError:
            me.pending = None

    @precondition(lambda self: any(each.held for each in self.workers))
    @rule(worker=WORKER, lease=LEASES)
    def ask_to_go_on(self, worker: int, lease: int) -> None:
        me = self.workers[worker]
        if me.held is None:
            return
        now = self.clock(me)
        until = now + lease * 1000
        try:
            step = extended(
                me.seen, fence=me.held.fence, lease_until_ms=until, ttl=0, author=AUTHOR, now_ms=now
            )
        except StoreError:
            return
        me.pending, me.is_begin = step, False

    @rule(worker=WORKER, status=st.sampled_from(sorted(SETTLED)), fence_off=st.sampled_from([0, 0, 0, -1]))
    def ask_to_finish(self, worker: int, status: ClaimStatus, fence_off: int) -> None:
        me = self.workers[worker]
        if me.held is None:
            return
        try:
            step = settled(
                me.seen,
                fence=me.held.fence + fence_off,
                status=status,
                outcome_hash=f"{status} by {worker}",
                author=AUTHOR,
                now_ms=self.clock(me),
            )
        except StoreError:
            return
        me.pending, me.is_begin = step, False

    @rule(worker=WORKER, status=st.sampled_from([None, *sorted(SETTLED)]))
    def reconcile(self, worker: int, status: ClaimStatus | None) -> None:
        """Reconcile by the stored claim: an operator reads it first."""
        now = self.clock(self.workers[worker])
        try:
            step = reconciled(
                self.table.claim, status=status, outcome_hash="known", author=AUTHOR, now_ms=now
            )
        except StoreError:
            return
        if step.guard is not None:
            assert self.table.put(step)

    @rule(worker=WORKER)
    def write(self, worker: int) -> None:
        me, step = self.workers[worker], self.workers[worker].pending
        me.pending = None
        if step is None or step.guard is None:
            return
        before = self.table.claim
        if not self.table.put(step):
            return
        if me.is_begin:
            assert before is None or before.retry_safe
            me.held = step.claim
        elif me.held is not None and step.claim.fence == me.held.fence:
            me.held = step.claim

    @rule(worker=WORKER)
    def die(self, worker: int) -> None:
        """The worker crashes, and restarts without any knowledge."""
        me = self.workers[worker]
        self.workers[worker] = replace(me, held=None, seen=None, pending=None)

    @rule(ms=st.sampled_from([1, 400, 1500, LEASE_SKEW_MARGIN_MS, 7000]))
    def time_passes(self, ms: int) -> None:
        self.now += ms

    @invariant()
    def fences_never_fall(self) -> None:
        assert self.table.fences == sorted(self.table.fences)

    @invariant()
    def an_outcome_stands(self) -> None:
        claim = self.table.claim
        if self.table.outcome is not None:
            assert claim == self.table.outcome
        elif claim is not None and claim.is_settled:
            self.table.outcome = claim

    @invariant()
    def no_two_believe_that_they_hold_the_lease(self) -> None:
        believers = {
            each.held.fence
            for each in self.workers
            if each.held is not None
            and each.held.status not in SETTLED
            and self.clock(each) < each.held.lease_until_ms
        }
        assert len(believers) <= 1


TestClaimMachine = ClaimMachine.TestCase
TestClaimMachine.settings = settings(max_examples=150, stateful_step_count=40)
