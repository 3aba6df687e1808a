"""The bodies of answers about the claims of free keys."""

from typing import Any, Literal

from session_api.answers import Answer
from session_store.domain import free_claim
from session_store.domain.free_claim import FreeClaim
from session_store.domain.times import iso

ClaimStatusName = Literal["in_progress", "completed", "failed"]


class ClaimAnswer(Answer, frozen=True):
    key: str
    status: ClaimStatusName
    input: Any
    output: Any
    error: Any
    started_at: str
    completed_at: str | None
    fence: int
    lease_until: str | None
    ttl: int


class BegunClaim(ClaimAnswer, frozen=True):
    """`downstreamToken`: the same for every attempt, for a service that takes idempotency keys."""

    downstream_token: str


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
        "completed_at": None if claim.completed_at is None else iso(claim.completed_at),
        "fence": claim.fence,
        "lease_until": None if claim.is_settled else iso(claim.lease_until_ms),
        "ttl": claim.ttl,
    }
