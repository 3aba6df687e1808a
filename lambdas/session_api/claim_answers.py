"""Response bodies about claims."""

from typing import Any, Literal

from session_api.answers import Answer, iso_or_none
from session_store.domain import free_claim
from session_store.domain.free_claim import FreeClaim
from session_store.domain.times import iso

ClaimStatusName = Literal["in_progress", "completed", "failed"]


class ClaimAnswer(Answer, frozen=True):
    """An idempotency record with a lease: whether the work under a key was begun, and how it ended."""

    key: str
    """The key, which is its caller's own."""

    status: ClaimStatusName
    """`in_progress` also after the lease has expired, until the claim is settled: `completed` or `failed`."""

    input: Any
    """The input that the key was begun with."""

    output: Any
    """What the work returned; null unless `completed`."""

    error: Any
    """How the work failed; null unless `failed`."""

    started_at: str
    """When the first attempt began."""

    completed_at: str | None
    """When the claim was settled; null before."""

    fence: int
    """The fencing token of the current attempt. It rises with every attempt."""

    lease_until: str | None
    """When the current lease expires; null once the claim is settled."""

    ttl: int
    """When the claim expires and its key is free again, in epoch seconds."""


class BegunClaim(ClaimAnswer, frozen=True):
    """The claim with the token for a service downstream."""

    downstream_token: str
    """An idempotency key for a service downstream, such as a payment API: the same for every attempt."""


def claim_answer(key: str, claim: FreeClaim) -> ClaimAnswer:
    return ClaimAnswer(**_claim_fields(key, claim))


def begun_claim_answer(key: str, claim: FreeClaim) -> BegunClaim:
    return BegunClaim(**_claim_fields(key, claim), downstream_token=free_claim.downstream_token(claim))


def _claim_fields(key: str, claim: FreeClaim) -> dict[str, Any]:
    return {
        "key": key,
        "status": claim.status.value,
        "input": claim.input,
        "output": claim.output,
        "error": claim.error,
        "started_at": iso(claim.started_at),
        "completed_at": iso_or_none(claim.completed_at),
        "fence": claim.fence,
        "lease_until": None if claim.is_settled else iso(claim.lease_until_ms),
        "ttl": claim.ttl,
    }
