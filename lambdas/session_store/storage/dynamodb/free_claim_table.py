"""Free claims in DynamoDB."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from session_store.domain.claim import ClaimGuard
from session_store.domain.free_claim import FreeClaim
from session_store.domain.json_values import JsonValue
from session_store.domain.times import from_iso, iso
from session_store.ports import Refused
from session_store.schema import CLAIM_PK_PREFIX, CLAIM_SK, Attribute, Entity, claim_pk
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.codec import Item, from_item, to_item
from session_store.storage.dynamodb.expressions import is_admitted
from session_store.storage.dynamodb.leases import lease_attributes, lease_from, put_guarded
from session_store.storage.dynamodb.payload_attributes import NULL, payload_attribute, payload_from

A: Final = Attribute


class ClaimTable(Struct, frozen=True, kw_only=True):
    client: Client

    def put(self, claim: FreeClaim, guard: ClaimGuard) -> Refused[FreeClaim] | None:
        item = free_claim_item(claim)
        return put_guarded(self.client, item, guard, clause=is_admitted, read=free_claim_from)

    def read(self, key_hash: str) -> FreeClaim | None:
        item = self.client.get(to_item({A.PK: claim_pk(key_hash), A.SK: CLAIM_SK}))
        return None if item is None else free_claim_from(item)


def free_claim_item(claim: FreeClaim) -> Item:
    return to_item(
        {
            A.PK: claim_pk(claim.key_hash),
            A.SK: CLAIM_SK,
            A.ENTITY: Entity.FREE_CLAIM,
            **lease_attributes(claim),
            A.RETAIN_SECONDS: claim.retain_seconds,
            A.INPUT: payload_attribute(claim.input),
            **_outcome(claim),
            A.HOME_REGION: claim.region,
            A.WRITE_REGION: claim.region,
        }
    )


def _outcome(claim: FreeClaim) -> Mapping[str, JsonValue]:
    if claim.completed_at is None:
        return {}
    return {
        A.OUTPUT: payload_attribute(claim.output),
        A.ERROR: payload_attribute(claim.error),
        A.COMPLETED_AT: iso(claim.completed_at),
    }


def free_claim_from(item: Item) -> FreeClaim:
    stored = from_item(item)
    return FreeClaim(
        key_hash=str(stored[A.PK]).removeprefix(CLAIM_PK_PREFIX),
        region=stored[A.HOME_REGION],
        retain_seconds=stored[A.RETAIN_SECONDS],
        input=payload_from(stored[A.INPUT]),
        output=payload_from(stored.get(A.OUTPUT, NULL)),
        error=payload_from(stored.get(A.ERROR, NULL)),
        completed_at=from_iso(stored[A.COMPLETED_AT]) if A.COMPLETED_AT in stored else None,
        **lease_from(stored),
    )
