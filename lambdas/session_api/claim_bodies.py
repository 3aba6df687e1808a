"""The bodies of requests on the claims of free keys."""

from typing import Annotated, Any

import msgspec

from session_api.bodies import DEFAULT_LEASE, Body, Fence, Lease, Reconcile
from session_store.domain.claim import ClaimStatus
from session_store.domain.free_claim import DEFAULT_RETENTION, LONGEST_RETENTION
from session_store.services.free_claims import ClaimOutcome, NewClaim

Retention = Annotated[int, msgspec.Meta(ge=1, le=LONGEST_RETENTION)]


class BeginClaim(Body, frozen=True):
    """`retainSeconds`: how long the claim stays once it was last written, a day after its lease at the least.

    Then its key is free, also where nobody has found out how its work ended.
    """

    input: Any
    attempt_id: str | None = None
    lease_seconds: Lease = DEFAULT_LEASE
    retry_safe: bool = False
    retain_seconds: Retention = DEFAULT_RETENTION

    def to_domain(self) -> NewClaim:
        return NewClaim(
            input=self.input,
            attempt_id=self.attempt_id,
            lease_seconds=self.lease_seconds,
            retry_safe=self.retry_safe,
            retain_seconds=self.retain_seconds,
        )


class CompleteClaim(Body, frozen=True):
    fence: Fence
    output: Any

    def outcome(self) -> ClaimOutcome:
        return ClaimOutcome(status=ClaimStatus.COMPLETED, output=self.output)


class FailClaim(Body, frozen=True):
    fence: Fence
    error: Any

    def outcome(self) -> ClaimOutcome:
        return ClaimOutcome(status=ClaimStatus.FAILED, error=self.error)


def reconciled_claim(found: Reconcile) -> ClaimOutcome | None:
    """None: to be tried again."""
    status = found.status()
    return None if status is None else ClaimOutcome(status=status, output=found.output, error=found.error)
