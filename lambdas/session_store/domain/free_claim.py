"""Free idempotency keys: claims on any work that a caller names, each with its outcome."""

from typing import Final

from session_store.domain.claim import LeasedClaim, claim_ttl
from session_store.domain.idempotency_key import key_hash
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Owner
from session_store.domain.times import DAY_SECONDS, seconds
from session_store.domain.tokens import token_of
from session_store.domain.window import LONGEST_LIFE

ROUTE: Final = "/claims"
"""Keeps these keys apart from Idempotency-Key headers: the same text is another key on each route."""

DEFAULT_RETENTION: Final = DAY_SECONDS
LONGEST_RETENTION: Final = LONGEST_LIFE


class FreeClaim(LeasedClaim, frozen=True, kw_only=True):
    """A claim under a free key.

    ``retain_seconds``: how long the claim stays after it was last written, at least. ``completed_at`` in
    milliseconds, None until the claim is settled.
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
    """A downstream idempotency key: the same for every attempt, another when the key begins anew."""
    return token_of("claim", claim.key_hash, claim.started_at)
