"""Request bodies about claims."""

from typing import Annotated, Any

import msgspec

from session_api.bodies import Body
from session_api.lease_bodies import DEFAULT_LEASE, Fence, LeaseSeconds, Reconcile
from session_store.domain.claim import ClaimStatus
from session_store.domain.free_claim import DEFAULT_RETENTION, LONGEST_RETENTION
from session_store.services.free_claims import ClaimOutcome, NewClaim

RetainSeconds = Annotated[int, msgspec.Meta(ge=1, le=LONGEST_RETENTION)]


class BeginClaim(Body, frozen=True):
    """Work that is to be done once."""

    input: Any
    """Any JSON value; the same key with another input is refused. Shares 300 KB with the outcome."""

    attempt_id: str | None = None
    """The caller's name for this attempt: sent again under it, the request gets the same fence again."""

    lease_seconds: LeaseSeconds = DEFAULT_LEASE
    """Seconds until the lease expires; a heartbeat extends it."""

    retry_safe: bool = False
    """Whether the work may be done again if its lease expires without an outcome."""

    retain_seconds: RetainSeconds = DEFAULT_RETENTION
    """Seconds that the claim stays after its last write, and at least a day after its lease. Then its key is
    free, even if nothing is known of how the work ended."""

    def to_domain(self) -> NewClaim:
        return NewClaim(
            input=self.input,
            attempt_id=self.attempt_id,
            lease_seconds=self.lease_seconds,
            retry_safe=self.retry_safe,
            retain_seconds=self.retain_seconds,
        )


class CompleteClaim(Body, frozen=True):
    """The outcome of work that succeeded."""

    fence: Fence
    """The fencing token that the lease was granted with."""

    output: Any
    """What the work returned: any JSON value, which later requests under the key get."""

    def outcome(self) -> ClaimOutcome:
        return ClaimOutcome(status=ClaimStatus.COMPLETED, output=self.output)


class FailClaim(Body, frozen=True):
    """The outcome of work that failed."""

    fence: Fence
    """The fencing token that the lease was granted with."""

    error: Any
    """How the work failed: any JSON value, which later requests under the key get."""

    def outcome(self) -> ClaimOutcome:
        return ClaimOutcome(status=ClaimStatus.FAILED, error=self.error)


def reconciled_claim(body: Reconcile) -> ClaimOutcome | None:
    """The outcome that a reconciliation gives a claim; None where its work may be begun again."""
    status = body.status()
    return None if status is None else ClaimOutcome(status=status, output=body.output, error=body.error)
