"""The claim that is written with every write under an idempotency key."""

from session_store.domain.caller import Caller
from session_store.domain.claim import ClaimStatus, check_repeat
from session_store.domain.idempotency_key import KeyClaim, check_key, key_hash, key_ttl
from session_store.domain.session import author_of, owner_of
from session_store.domain.times import is_expired


def build_key_claim(
    caller: Caller,
    *,
    route: str,
    key: str,
    input_hash: str,
    target: str,
    operation_id: str,
    at: int,
    region: str,
) -> KeyClaim:
    """Build the claim of a write under an idempotency key.

    ``input_hash``: the request's fingerprint. ``target``: the id of what it creates or changes, ``at`` (ms).

    Raises:
        InvalidRequestError: a malformed key.
    """
    owner = owner_of(caller)
    return KeyClaim(
        key_hash=key_hash(owner, route=route, key=check_key(key)),
        owner=owner,
        status=ClaimStatus.COMPLETED,
        input_hash=input_hash,
        started_at=at,
        ttl=key_ttl(at),
        author=author_of(caller),
        target=target,
        operation_id=operation_id,
        region=region,
    )


def check_same_request(held: KeyClaim, claim: KeyClaim) -> None:
    """Check that the key was used before for the same request.

    Raises:
        IdempotencyMismatchError
    """
    mismatch = "The key was used before with another request."
    check_repeat(held, input_hash=claim.input_hash, mismatch=mismatch)


def unexpired(held: KeyClaim | None, now_ms: int) -> KeyClaim | None:
    """The claim that was read, unless it has expired."""
    return None if held is None or is_expired(held.ttl, now_ms) else held
