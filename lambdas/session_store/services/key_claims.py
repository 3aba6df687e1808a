"""The claim that goes with a write under an idempotency key."""

from typing import Final

from session_store.domain.caller import Caller
from session_store.domain.claim import ClaimStatus
from session_store.domain.idempotency_key import KeyClaim, check_key, key_hash, key_ttl
from session_store.domain.json_values import JsonValue, digest
from session_store.domain.session import author_of, owner_of
from session_store.services.births import Birth

MISMATCH: Final = "The key was used before with another request."


def key_claim(
    caller: Caller,
    *,
    route: str,
    key: str,
    made_of: JsonValue,
    target: str,
    operation_id: str,
    at: int,
    region: str,
) -> KeyClaim:
    """``made_of``: all that makes it another request. ``target``: what it makes or changes, ``at`` (ms).

    Raises:
        InvalidRequestError: malformed key.
    """
    owner = owner_of(caller)
    return KeyClaim(
        key_hash=key_hash(owner, route=route, key=check_key(key)),
        owner=owner,
        status=ClaimStatus.COMPLETED,
        input_hash=digest(made_of),
        started_at=at,
        ttl=key_ttl(at),
        author=author_of(caller),
        target=target,
        operation_id=operation_id,
        region=region,
    )


def session_claim(caller: Caller, birth: Birth, *, route: str, key: str, made_of: JsonValue) -> KeyClaim:
    """As ``key_claim``, of a session or what lies in one."""
    return key_claim(
        caller,
        route=route,
        key=key,
        made_of=made_of,
        target=birth.session_id,
        operation_id=birth.operation_id,
        at=birth.at,
        region=birth.region,
    )


def birth_of(claim: KeyClaim) -> Birth:
    """Of the write that the claim went with."""
    return Birth(
        session_id=claim.target,
        operation_id=claim.operation_id,
        at=claim.started_at,
        region=claim.region,
    )
