"""Writes in DynamoDB under idempotency keys: a write and its claim are one transaction."""

from dataclasses import dataclass
from typing import Any, Final

from session_store.domain.idempotency_key import KeyClaim
from session_store.errors import OutcomeUnknownError, ThrottledError
from session_store.storage.client import Client, TransactionRefusedError
from session_store.storage.key_claims import key_claim_from, key_claim_put

CLAIM: Final = 0
WRITE: Final = 1
"""Positions in the transaction. The claim is judged first."""

MEETINGS: Final = 4
"""How often a write is sent that is refused while another holds its claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedWrites:
    client: Client

    def sent(self, item: dict[str, Any], claim: KeyClaim) -> KeyClaim | None:
        """None when claim and item are written by this very operation; else the claim that holds the key.

        Raises:
            TransactionRefusedError: the key is free, the item is refused.
            OutcomeUnknownError: an answer was lost, at whatever meeting, and no later one told.
        """
        items = [key_claim_put(claim, table=self.client.table), item]
        lost = False
        for meeting in range(MEETINGS):
            try:
                self.client.transact(items, token=claim.operation_id)
            except ThrottledError as error:
                if lost:
                    raise OutcomeUnknownError from error
                raise
            except TransactionRefusedError as refused:
                lost = refused.answer_lost = lost or refused.answer_lost
                if CLAIM in refused.held:
                    held = key_claim_from(refused.held[CLAIM] or {})
                    return None if held.operation_id == claim.operation_id else held
                if CLAIM not in refused.met:
                    raise
                # Its twin is being written: what refuses this one may be the twin's own work.
                self.client.attempts.pause(meeting)
            else:
                return None
        raise OutcomeUnknownError if lost else ThrottledError
