"""Free claims: any work that a caller has a key for, begun and finished once, without a session."""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.claim import ClaimStatus, Standing, Step, standing
from session_store.domain.claim_steps import begun, extended, reconciled, settled
from session_store.domain.fingerprints import fingerprint, present_members
from session_store.domain.free_claim import (
    DEFAULT_RETENTION,
    LONGEST_RETENTION,
    FreeClaim,
    free_claim_ttl,
    free_key_hash,
)
from session_store.domain.homes import home_of
from session_store.domain.idempotency_key import MAX_KEY
from session_store.domain.identifiers import check_identifier
from session_store.domain.json_values import JsonValue, check
from session_store.domain.payload import payload_size
from session_store.domain.session import author_of, owner_of
from session_store.domain.times import MILLIS
from session_store.domain.whole_numbers import check_whole
from session_store.errors import NotFoundError
from session_store.ports import ClaimStorage, Clock, Ids
from session_store.services.claim_requests import check_begin, check_lease, check_outcome
from session_store.services.claim_stepping import apply_step
from session_store.services.home import Home
from session_store.services.payloads import OUTCOME_ROOM, check_inline


class NewClaim(Struct, frozen=True, kw_only=True):
    """``lease_seconds``: 1 to 3600. ``retain_seconds``: how long the claim is kept.

    It is kept for at least a day past its lease in any case.
    """

    input: JsonValue
    attempt_id: str | None = None
    lease_seconds: int = 60
    retry_safe: bool = False
    retain_seconds: int = DEFAULT_RETENTION

    @property
    def input_hash(self) -> str:
        return fingerprint("claim", {"input": self.input})


class ClaimOutcome(Struct, frozen=True, kw_only=True):
    status: ClaimStatus
    output: JsonValue = None
    error: JsonValue = None

    @property
    def hash(self) -> str:
        """The fingerprint of the outcome."""
        return fingerprint(
            "claim-outcome",
            present_members(
                {"status": self.status}, {"output": (self.output, None), "error": (self.error, None)}
            ),
        )


class FreeClaims(Struct, frozen=True, kw_only=True):
    """A key is scoped to its caller. One of ``regions`` is its home region, which alone writes it."""

    storage: ClaimStorage
    clock: Clock
    ids: Ids
    home: Home
    regions: Sequence[str]

    def begin(self, caller: Caller, key: str, new: NewClaim) -> FreeClaim:
        """Claim the work; where it is settled already, return the claim with its outcome.

        Raises:
            InProgressError: another attempt holds the lease.
            UnreconciledError: the lease of an attempt expired, and its outcome is unknown.
            IdempotencyMismatchError: the key was used with another input.
            InvalidRequestError, MisdirectedError, PayloadTooLargeError
        """
        key_hash = self._home_key(caller, key)
        _check_new(new)
        now_ms = self.clock.now_ms()
        until = now_ms + new.lease_seconds * MILLIS
        retain = new.retain_seconds
        fresh = FreeClaim(
            key_hash=key_hash,
            region=self.home.region,
            retain_seconds=retain,
            input=new.input,
            owner=owner_of(caller),
            status=ClaimStatus.IN_PROGRESS,
            input_hash=new.input_hash,
            started_at=now_ms,
            attempt_id=new.attempt_id or self.ids.operation_id(),
            fence=now_ms,
            lease_until_ms=until,
            retry_safe=new.retry_safe,
            ttl=free_claim_ttl(lease_until_ms=until, retain_seconds=retain, now_ms=now_ms),
            author=author_of(caller),
        )

        def judge(stored: FreeClaim | None) -> Step[FreeClaim]:
            return begun(fresh, stored, now_ms=now_ms)

        return apply_step(judge, self.storage.put, None).claim

    def heartbeat(self, caller: Caller, key: str, *, fence: int, lease_seconds: int) -> FreeClaim:
        """Extend the lease to ``lease_seconds`` from now; a longer one is kept.

        Raises:
            FencedError, NotFoundError, InvalidRequestError, MisdirectedError
        """
        check_lease(lease_seconds)
        now_ms = self.clock.now_ms()
        until = now_ms + lease_seconds * MILLIS

        def judge(held: FreeClaim | None) -> Step[FreeClaim]:
            retain = 0 if held is None else held.retain_seconds
            ttl = free_claim_ttl(lease_until_ms=until, retain_seconds=retain, now_ms=now_ms)
            author = author_of(caller)
            return extended(held, fence=fence, lease_until_ms=until, ttl=ttl, author=author, now_ms=now_ms)

        return self._apply_step(caller, key, judge).claim

    def complete(self, caller: Caller, key: str, *, fence: int, outcome: ClaimOutcome) -> Step[FreeClaim]:
        """Settle the claim with an outcome. The same outcome again is a replay and succeeds.

        Raises:
            FencedError, IdempotencyMismatchError, NotFoundError, InvalidRequestError, MisdirectedError,
            PayloadTooLargeError
        """
        _check_outcome(outcome)
        now_ms = self.clock.now_ms()
        settle = partial(
            settled,
            fence=fence,
            status=outcome.status,
            outcome_hash=outcome.hash,
            author=author_of(caller),
            now_ms=now_ms,
        )
        return self._apply_step(caller, key, lambda stored: _with_outcome(settle(stored), outcome, now_ms))

    def reconcile(
        self, caller: Caller, key: str, *, outcome: ClaimOutcome | None, fence: int | None = None
    ) -> Step[FreeClaim]:
        """Settle a claim whose lease has expired, or (``outcome`` None) allow another attempt.

        ``fence``: of the attempt that was investigated; None for the current one.

        Raises:
            InProgressError, FencedError, IdempotencyMismatchError, NotFoundError, InvalidRequestError,
            MisdirectedError, PayloadTooLargeError
        """
        _check_outcome(outcome)
        now_ms = self.clock.now_ms()
        settle = partial(
            reconciled,
            status=None if outcome is None else outcome.status,
            outcome_hash="" if outcome is None else outcome.hash,
            author=author_of(caller),
            now_ms=now_ms,
            fence=fence,
        )
        return self._apply_step(caller, key, lambda stored: _with_outcome(settle(stored), outcome, now_ms))

    def get(self, caller: Caller, key: str) -> FreeClaim:
        """Read the caller's claim.

        Raises:
            NotFoundError, InvalidRequestError, MisdirectedError
        """
        claim = self.storage.read(self._home_key(caller, key))
        if claim is None or standing(claim, now_ms=self.clock.now_ms()) is Standing.ABSENT:
            raise NotFoundError("There is no such claim.")
        return claim

    def _apply_step(
        self, caller: Caller, key: str, judge: Callable[[FreeClaim | None], Step[FreeClaim]]
    ) -> Step[FreeClaim]:
        stored = self.storage.read(self._home_key(caller, key))
        return apply_step(judge, self.storage.put, stored)

    def _home_key(self, caller: Caller, key: str) -> str:
        check_identifier(key, path="key", longest=MAX_KEY)
        key_hash = free_key_hash(owner_of(caller), key)
        self.home.check(home_of(key_hash, self.regions))
        return key_hash


def _with_outcome(step: Step[FreeClaim], outcome: ClaimOutcome | None, now_ms: int) -> Step[FreeClaim]:
    """The step with its retention from now on and, where it settles the claim, with the outcome.

    Raises:
        PayloadTooLargeError: input and outcome do not fit into one item.
    """
    if step.replayed:
        return step
    ttl = free_claim_ttl(
        lease_until_ms=step.claim.lease_until_ms, retain_seconds=step.claim.retain_seconds, now_ms=now_ms
    )
    claim = replace(step.claim, ttl=max(step.claim.ttl, ttl))
    if outcome is None or not claim.is_settled:
        return replace(step, claim=claim)
    check_inline({"$.output": outcome.output, "$.error": outcome.error}, beside=payload_size(claim.input))
    settled_claim = replace(claim, output=outcome.output, error=outcome.error, completed_at=now_ms)
    return replace(step, claim=settled_claim)


def _check_outcome(outcome: ClaimOutcome | None) -> None:
    if outcome is not None:
        check_outcome(outcome.status, output=outcome.output, error=outcome.error)


def _check_new(new: NewClaim) -> None:
    check(new.input, path="$.input")
    check_inline({"$.input": new.input}, beside=OUTCOME_ROOM)
    check_begin(attempt_id=new.attempt_id, lease_seconds=new.lease_seconds)
    path = "$.retainSeconds"
    check_whole(new.retain_seconds, least=1, most=LONGEST_RETENTION, path=path, unit="seconds")
