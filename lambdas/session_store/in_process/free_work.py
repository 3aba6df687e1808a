"""Work under a free claim that a block does."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.caller import Caller
from session_store.domain.claim import ClaimStatus
from session_store.domain.free_claim import FreeClaim, downstream_token
from session_store.domain.json_values import JsonValue
from session_store.in_process.lease import RENEW_FOR, Lease
from session_store.in_process.work import Work
from session_store.services.free_claims import ClaimOutcome, FreeClaims, NewClaim


class ClaimSteps(Struct, frozen=True, kw_only=True):
    """The requests to the store for one claim. Each blocks; ``deadline`` holds for all but renewals."""

    claims: FreeClaims
    deadline: Deadline
    caller: Caller
    key: str
    new: NewClaim

    def for_one_attempt(self) -> "ClaimSteps":
        """The steps with an attempt id, by which a repeated begin gets its fence again."""
        attempt_id = self.new.attempt_id or self.claims.ids.operation_id()
        return replace(self, new=replace(self.new, attempt_id=attempt_id))

    def begin(self) -> FreeClaim:
        return self.claims.begin(self.caller, self.key, self.new)

    def extend(self, fence: int) -> FreeClaim:
        with self.deadline.lifted():
            return self.claims.heartbeat(
                self.caller, self.key, fence=fence, lease_seconds=self.new.lease_seconds
            )

    def settle(self, fence: int, outcome: ClaimOutcome) -> FreeClaim:
        return self.claims.complete(self.caller, self.key, fence=fence, outcome=outcome).claim


class HeldClaim(Work):
    """A claim that was begun, by this attempt or an earlier one."""

    def __init__(self, steps: ClaimSteps, *, renew_for: int = RENEW_FOR) -> None:
        claim = steps.begin()
        lease = Lease(
            lambda: steps.extend(claim.fence),
            until_ms=claim.lease_until_ms,
            clock=steps.claims.clock,
            renew_for=renew_for,
        )
        super().__init__(
            lease=lease,
            fence=claim.fence,
            downstream_token=downstream_token(claim),
            outcome=claim if claim.is_settled else None,
        )
        self._steps = steps

    def _complete(self, output: JsonValue) -> FreeClaim:
        return self._settle(ClaimOutcome(status=ClaimStatus.COMPLETED, output=output))

    def _fail(self, error: JsonValue) -> FreeClaim:
        return self._settle(ClaimOutcome(status=ClaimStatus.FAILED, error=error))

    def _settle(self, outcome: ClaimOutcome) -> FreeClaim:
        self._settlement_sent = True
        claim = self._steps.settle(self.fence, outcome)
        self._outcome = claim
        return claim


class FreeWork(HeldClaim):
    def complete(self, output: JsonValue) -> FreeClaim:
        """Complete the work. After an error the claim is still held.

        Raises:
            OutcomeUnknownError: the response was lost; the same request again succeeds if it was done.
            FencedError: another attempt has taken over; nothing was written.
            IdempotencyMismatchError: the claim has another outcome.
            InvalidRequestError, PayloadTooLargeError, NotFoundError, MisdirectedError, ThrottledError
        """
        return self._complete(output)

    def fail(self, error: JsonValue) -> FreeClaim:
        """Fail the work for good. Later attempts get ``error``, and do not run it.

        Raises:
            StoreError: as ``complete``.
        """
        return self._fail(error)
