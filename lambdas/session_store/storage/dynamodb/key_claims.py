"""Claims of idempotency keys as items of the table, and back."""

from typing import Any, Final

from session_store.domain.claim import ClaimStatus
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.times import from_iso, iso
from session_store.schema import (
    CLAIM_PK_PREFIX,
    CLAIM_SK,
    Attribute,
    Entity,
    claim_pk,
)
from session_store.storage.dynamodb.codec import Item, from_item, to_item
from session_store.storage.dynamodb.expressions import Terms, conditional_put, is_absent
from session_store.storage.dynamodb.ownership import author_attribute, author_from, owner_from

A: Final = Attribute


def key_claim_key(key_hash: str) -> Item:
    return to_item({A.PK: claim_pk(key_hash), A.SK: CLAIM_SK})


def key_claim_item(claim: KeyClaim) -> Item:
    return to_item(
        {
            A.PK: claim_pk(claim.key_hash),
            A.SK: CLAIM_SK,
            A.ENTITY: Entity.KEY_CLAIM,
            A.TENANT: claim.owner.tenant,
            A.SUBJECT: claim.owner.subject,
            A.CLAIM_STATUS: claim.status,
            A.INPUT_HASH: claim.input_hash,
            A.OPERATION_ID: claim.operation_id,
            A.TARGET: claim.target,
            A.STARTED_AT: iso(claim.started_at),
            A.TTL: claim.ttl,
            A.HOME_REGION: claim.region,
            A.WRITE_REGION: claim.region,
            A.UPDATED_BY: author_attribute(claim.author),
        }
    )


def key_claim_from(item: Item) -> KeyClaim:
    stored = from_item(item)
    return KeyClaim(
        key_hash=str(stored[A.PK]).removeprefix(CLAIM_PK_PREFIX),
        owner=owner_from(stored),
        status=ClaimStatus(stored[A.CLAIM_STATUS]),
        input_hash=stored[A.INPUT_HASH],
        operation_id=stored[A.OPERATION_ID],
        target=stored[A.TARGET],
        started_at=from_iso(stored[A.STARTED_AT]),
        ttl=stored[A.TTL],
        region=stored[A.HOME_REGION],
        author=author_from(stored),
    )


def key_claim_put(claim: KeyClaim, *, table: str) -> dict[str, Any]:
    """The claim as a put of a transaction, if the key is free or its claim has expired."""
    terms = Terms()
    condition = is_absent(terms, claim.started_at)
    return conditional_put(key_claim_item(claim), table=table, terms=terms, condition=condition)
