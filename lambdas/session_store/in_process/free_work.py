"""Work under a free key that a block does."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.claim import SETTLED, ClaimStatus
from session_store.domain.free_claim import FreeClaim, downstream_token
from session_store.domain.json_values import JsonValue
from session_store.in_process.lease import RENEW_FOR, Lease
from session_store.in_process.work import Work
from session_store.services.free_claims import ClaimOutcome, FreeClaims, NewClaim


class ClaimSteps(Struct, frozen=True, kw_only=True):
    """What the store does for one key. Each step blocks."""

    claims: FreeClaims
    caller: Caller
    key: str
    new: NewClaim

    def of_one_attempt(self) -> "ClaimSteps":
        """Under a name of its own, so that whoever begins again is given its fence again."""
        attempt_id = self.new.attempt_id or self.claims.ids.operation_id()
        return replace(self, new=replace(self.new, attempt_id=attempt_id))

    def begin(self) -> FreeClaim:
        return self.claims.begin(self.caller, self.key, self.new)

    def extend(self, fence: int) -> FreeClaim:
        return self.claims.heartbeat(self.caller, self.key, fence=fence, lease_seconds=self.new.lease_seconds)

    def end(self, fence: int, outcome: ClaimOutcome) -> FreeClaim:
        return self.claims.complete(self.caller, self.key, fence=fence, outcome=outcome).claim


class HeldClaim(Work):
    """A key that was begun, now or before."""

    def __init__(self, steps: ClaimSteps, *, renew_for: int = RENEW_FOR) -> None:
        claim = steps.begin()
        lease = Lease(
            lambda: steps.extend(claim.fence),
            until_ms=claim.lease_until_ms,
            seconds=steps.new.lease_seconds,
            clock=steps.claims.clock,
            renew_for=renew_for,
        )
        super().__init__(
            lease=lease,
            fence=claim.fence,
            downstream_token=downstream_token(claim),
            settled=claim if claim.status in SETTLED else None,
        )
        self._steps = steps

    def _end(self, outcome: ClaimOutcome) -> FreeClaim:
        self._end_asked = True
        claim = self._steps.end(self.fence, outcome)
        self._settled = claim
        return claim


class FreeWork(HeldClaim):
    def complete(self, output: JsonValue) -> FreeClaim:
        """Write the outcome. After a refusal, or an answer that was lost, the key is still held.

        Raises:
            OutcomeUnknownError: the answer was lost; the same again is a success if it was done.
            FencedError: another attempt has taken over, and nothing is done.
            IdempotencyMismatchError: the key has another outcome.
            InvalidRequestError, PayloadTooLargeError, NotFoundError, MisdirectedError, ThrottledError
        """
        return self._end(completed(output))

    def fail(self, error: JsonValue) -> FreeClaim:
        """Write that the work has failed, for good: who asks again is told ``error``, and does not run it.

        Raises:
            As ``complete``.
        """
        return self._end(failed(error))


def completed(output: JsonValue) -> ClaimOutcome:
    return ClaimOutcome(status=ClaimStatus.COMPLETED, output=output)


def failed(error: JsonValue) -> ClaimOutcome:
    return ClaimOutcome(status=ClaimStatus.FAILED, error=error)
