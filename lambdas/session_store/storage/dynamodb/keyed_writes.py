"""A write and the claim of its idempotency key as one transaction."""

from typing import Any, Final

from session_store.domain.idempotency_key import KeyClaim
from session_store.errors import OutcomeUnknownError, ThrottledError
from session_store.storage.dynamodb.client import Client, TransactionRefusedError
from session_store.storage.dynamodb.key_claims import key_claim_from, key_claim_key, key_claim_put

CLAIM: Final = 0
WRITE: Final = 1
"""Positions in the transaction. The claim is judged first."""

CONFLICT_ATTEMPTS: Final = 4
"""How often a write is sent that is refused while another holds its claim."""


def write_once(client: Client, item: dict[str, Any], claim: KeyClaim) -> KeyClaim | None:
    """None when claim and item are written by this very operation; else the claim that holds the key.

    Raises:
        TransactionRefusedError: the key is free, the item is refused.
        OutcomeUnknownError: an answer was lost, at whatever attempt, and no later one told.
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
            # Its twin is being written: what refuses this one may be the twin's own work.
            client.attempts.pause(attempt)
        else:
            return None
    raise OutcomeUnknownError if lost else ThrottledError


def create_once(client: Client, put: dict[str, Any], claim: KeyClaim) -> KeyClaim | None:
    """As ``write_once``, of a put under an id that was minted for it."""
    try:
        return write_once(client, put, claim)
    except TransactionRefusedError as refused:
        message = "an id that was minted is taken"
        raise AssertionError(message) from refused


def read_key_claim(client: Client, key_hash: str) -> KeyClaim | None:
    """The claim that holds a key, read consistently, whether or not it is expired."""
    item = client.get(key_claim_key(key_hash))
    return None if item is None else key_claim_from(item)
