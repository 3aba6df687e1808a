"""Free idempotency keys: a claim on any work that a caller has a name for, with its outcome inside."""

from typing import Final

from session_store.domain.claim import LeasedClaim, claim_ttl
from session_store.domain.idempotency_key import key_hash
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Owner
from session_store.domain.times import DAY_SECONDS, seconds
from session_store.domain.tokens import token_of
from session_store.domain.window import LONGEST_LIFE

ROUTE: Final = "/claims"
"""Apart from the Idempotency-Key of every route: the same text there is another key."""

DEFAULT_RETENTION: Final = DAY_SECONDS
LONGEST_RETENTION: Final = LONGEST_LIFE


class FreeClaim(LeasedClaim, frozen=True, kw_only=True):
    """``retain_seconds``: how long that the claim stays after it was last written, at the least.

    ``completed_at`` in milliseconds, None until it is settled.
    """

    key_hash: str
    region: str
    retain_seconds: int
    input: JsonValue
    output: JsonValue = None
    error: JsonValue = None
    completed_at: int | None = None


def free_key_hash(owner: Owner, key: str) -> str:
    return key_hash(owner, route=ROUTE, key=key)


def free_claim_ttl(*, lease_until_ms: int, retain_seconds: int, now_ms: int) -> int:
    return claim_ttl(lease_until_ms=lease_until_ms, at_least=seconds(now_ms) + retain_seconds)


def downstream_token(claim: FreeClaim) -> str:
    """The same for every attempt; another once the claim has expired and its key begins anew."""
    return token_of("claim", claim.key_hash, claim.started_at)
