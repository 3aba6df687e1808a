"""A write and the claim of its idempotency key as one transaction."""

from typing import Any, Final

from session_store.domain.idempotency_key import KeyClaim
from session_store.errors import OutcomeUnknownError, ThrottledError
from session_store.storage.dynamodb.client import Client, TransactionRefusedError
from session_store.storage.dynamodb.key_claims import key_claim_from, key_claim_key, key_claim_put

CLAIM: Final = 0
WRITE: Final = 1
"""Positions in the transaction. The refusal of the claim takes precedence."""

CONFLICT_ATTEMPTS: Final = 4
"""How often a write is sent that conflicts with another request under the same key."""


def write_once(client: Client, item: dict[str, Any], claim: KeyClaim) -> KeyClaim | None:
    """Write the item and the claim; returns None if this operation wrote them, else the holding claim.

    Raises:
        TransactionRefusedError: the key is free, the item is refused.
        OutcomeUnknownError: a response was lost, and no later attempt showed whether it was done.
    """
    items = [key_claim_put(claim, table=client.table), item]
    lost = False
    for attempt in range(CONFLICT_ATTEMPTS):
        try:
            client.transact(items, token=claim.operation_id)
        except ThrottledError as error:
            if lost:
                raise OutcomeUnknownError from error
            raise
        except TransactionRefusedError as refused:
            lost = refused.answer_lost = lost or refused.answer_lost
            if CLAIM in refused.held:
                held = key_claim_from(refused.held[CLAIM] or {})
                return None if held.operation_id == claim.operation_id else held
            if CLAIM not in refused.conflicting:
                raise
            # Another request under this key is being written: the refusal may be due to that request.
            client.attempts.pause(attempt)
        else:
            return None
    raise OutcomeUnknownError if lost else ThrottledError


def create_once(client: Client, put: dict[str, Any], claim: KeyClaim) -> KeyClaim | None:
    """As ``write_once``, for a put under a new id, which nothing else can have taken."""
    try:
        return write_once(client, put, claim)
    except TransactionRefusedError as refused:
        message = "a newly minted id is already taken"
        raise AssertionError(message) from refused


def read_key_claim(client: Client, key_hash: str) -> KeyClaim | None:
    """The claim that holds a key, read consistently, even if it has expired."""
    item = client.get(key_claim_key(key_hash))
    return None if item is None else key_claim_from(item)
