"""Free idempotency keys: whatever a caller has a name for, begun and finished once."""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.claim import SETTLED, ClaimStatus, Standing, Step, standing
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
from session_store.domain.json_values import JsonValue
from session_store.domain.payload import payload_size
from session_store.domain.session import author_of, owner_of
from session_store.domain.times import MILLIS
from session_store.errors import (
    InvalidRequestError,
    MisdirectedError,
    NotFoundError,
)
from session_store.ports import ClaimStorage, Clock, Ids
from session_store.services.claim_stepping import apply_step, check_begin, check_lease, check_outcome
from session_store.services.payloads import OUTCOME_ROOM, check_inline


class NewClaim(Struct, frozen=True, kw_only=True):
    """``lease_seconds`` 1 to 3600; ``retain_seconds``: how long the claim stays, a day at the least."""

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
    """A key is the caller's own, and at home in one region of ``regions``, which alone writes it."""

    storage: ClaimStorage
    clock: Clock
    ids: Ids
    region: str
    regions: Sequence[str]

    def begin(self, caller: Caller, key: str, new: NewClaim) -> FreeClaim:
        """Leave to do the work, or, where the claim is settled, its outcome.

        Raises:
            InProgressError: another attempt is at it.
            UnreconciledError: an attempt may have done it, and nobody knows.
            IdempotencyMismatchError: the key was used with another input.
            InvalidRequestError, MisdirectedError, PayloadTooLargeError
        """
        key_hash = self._home_key(caller, key)
        _check(new)
        now_ms = self.clock.now_ms()
        until = now_ms + new.lease_seconds * MILLIS
        retain = new.retain_seconds
        fresh = FreeClaim(
            key_hash=key_hash,
            region=self.region,
            retain=retain,
            input=new.input,
            owner=owner_of(caller),
            status=ClaimStatus.IN_PROGRESS,
            input_hash=new.input_hash,
            started_at=now_ms,
            attempt_id=new.attempt_id or self.ids.operation_id(),
            fence=now_ms,
            lease_until_ms=until,
            retry_safe=new.retry_safe,
            ttl=free_claim_ttl(lease_until_ms=until, retain=retain, now_ms=now_ms),
            author=author_of(caller),
        )

        def judge(held: FreeClaim | None) -> Step[FreeClaim]:
            return begun(fresh, held, now_ms=now_ms)

        return apply_step(judge, self.storage.put, None).claim

    def heartbeat(self, caller: Caller, key: str, *, fence: int, lease_seconds: int) -> FreeClaim:
        """The claim with a lease of ``lease_seconds`` from now; one that is longer stays.

        Raises:
            FencedError, NotFoundError, InvalidRequestError, MisdirectedError
        """
        check_lease(lease_seconds)
        now_ms = self.clock.now_ms()
        until = now_ms + lease_seconds * MILLIS

        def judge(held: FreeClaim | None) -> Step[FreeClaim]:
            retain = 0 if held is None else held.retain
            ttl = free_claim_ttl(lease_until_ms=until, retain=retain, now_ms=now_ms)
            author = author_of(caller)
            return extended(held, fence=fence, lease_until_ms=until, ttl=ttl, author=author, now_ms=now_ms)

        return self._apply_step(caller, key, judge).claim

    def complete(self, caller: Caller, key: str, *, fence: int, outcome: ClaimOutcome) -> Step[FreeClaim]:
        """The claim with its outcome; ``guard`` None: it had it already.

        Raises:
            FencedError, IdempotencyMismatchError, NotFoundError, InvalidRequestError, MisdirectedError,
            PayloadTooLargeError
        """
        self._check(outcome)
        now_ms = self.clock.now_ms()
        judged = partial(
            settled,
            fence=fence,
            status=outcome.status,
            outcome_hash=outcome.hash,
            author=author_of(caller),
            now_ms=now_ms,
        )
        return self._apply_step(caller, key, lambda held: _finished(judged(held), outcome, now_ms))

    def reconcile(
        self, caller: Caller, key: str, *, outcome: ClaimOutcome | None, fence: int | None = None
    ) -> Step[FreeClaim]:
        """Settle a claim that nobody holds any more, or (``outcome`` None) let its work be tried again.

        ``fence``: of the attempt that was looked into; without it, whichever is there.

        Raises:
            InProgressError, FencedError, IdempotencyMismatchError, NotFoundError, InvalidRequestError,
            MisdirectedError, PayloadTooLargeError
        """
        self._check(outcome)
        now_ms = self.clock.now_ms()
        judged = partial(
            reconciled,
            status=None if outcome is None else outcome.status,
            outcome_hash="" if outcome is None else outcome.hash,
            author=author_of(caller),
            now_ms=now_ms,
            fence=fence,
        )
        return self._apply_step(caller, key, lambda held: _finished(judged(held), outcome, now_ms))

    def get(self, caller: Caller, key: str) -> FreeClaim:
        """Raises:
        NotFoundError, InvalidRequestError, MisdirectedError
        """
        claim = self.storage.read(self._home_key(caller, key))
        if claim is None or standing(claim, now_ms=self.clock.now_ms()) is Standing.ABSENT:
            raise NotFoundError("There is no such claim.")
        return claim

    @staticmethod
    def _check(outcome: ClaimOutcome | None) -> None:
        if outcome is not None:
            check_outcome(outcome.status, output=outcome.output, error=outcome.error)

    def _apply_step(
        self, caller: Caller, key: str, judge: Callable[[FreeClaim | None], Step[FreeClaim]]
    ) -> Step[FreeClaim]:
        held = self.storage.read(self._home_key(caller, key))
        return apply_step(judge, self.storage.put, held)

    def _home_key(self, caller: Caller, key: str) -> str:
        check_identifier(key, path="key", longest=MAX_KEY)
        key_hash = free_key_hash(owner_of(caller), key)
        home = home_of(key_hash, self.regions)
        if home != self.region:
            raise MisdirectedError(home_region=home)
        return key_hash


def _finished(step: Step[FreeClaim], outcome: ClaimOutcome | None, now_ms: int) -> Step[FreeClaim]:
    """The step with the outcome inside the claim, where it settles it; kept from now on in either case."""
    if step.guard is None:
        return step
    ttl = free_claim_ttl(lease_until_ms=step.claim.lease_until_ms, retain=step.claim.retain, now_ms=now_ms)
    claim = replace(step.claim, ttl=max(step.claim.ttl, ttl))
    if outcome is None or claim.status not in SETTLED:
        return replace(step, claim=claim)
    check_inline({"$.output": outcome.output, "$.error": outcome.error}, beside=payload_size(claim.input))
    done = replace(claim, output=outcome.output, error=outcome.error, completed_at=now_ms)
    return replace(step, claim=done)


def _check(new: NewClaim) -> None:
    check_inline({"$.input": new.input}, beside=OUTCOME_ROOM)
    check_begin(attempt_id=new.attempt_id, lease_seconds=new.lease_seconds)
    if not 1 <= new.retain_seconds <= LONGEST_RETENTION:
        detail = f"Must be 1 to {LONGEST_RETENTION} seconds"
        raise InvalidRequestError(detail, path="$.retainSeconds")
