"""The attributes that every claim under a lease has, and guarded writes of claims."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from session_store.domain.claim import ClaimGuard, ClaimStatus, ClaimT, LeasedClaim
from session_store.domain.json_values import JsonValue
from session_store.domain.payload import StoredPayload
from session_store.domain.times import from_iso, iso
from session_store.domain.tool_call import Claim
from session_store.ports import Refused
from session_store.schema import Attribute
from session_store.storage.dynamodb.client import Client, ConditionFailedError
from session_store.storage.dynamodb.codec import Item
from session_store.storage.dynamodb.expressions import Terms
from session_store.storage.dynamodb.ownership import Attributes, author_attribute, author_from, owner_from
from session_store.storage.dynamodb.payload_attributes import payload_attribute, payload_from

A: Final = Attribute
LEASE_ATTRIBUTES: Final = (
    A.TENANT,
    A.SUBJECT,
    A.CLAIM_STATUS,
    A.INPUT_HASH,
    A.OUTCOME_HASH,
    A.STARTED_AT,
    A.ATTEMPT_ID,
    A.FENCE,
    A.LEASE_UNTIL_MS,
    A.RETRY_SAFE,
    A.TTL,
    A.UPDATED_BY,
)
"""The attributes that ``lease_from`` reads."""


def lease_attributes(claim: LeasedClaim) -> dict[str, JsonValue]:
    return {
        A.TENANT: claim.owner.tenant,
        A.SUBJECT: claim.owner.subject,
        A.CLAIM_STATUS: claim.status,
        A.INPUT_HASH: claim.input_hash,
        A.OUTCOME_HASH: claim.outcome_hash,
        A.STARTED_AT: iso(claim.started_at),
        A.ATTEMPT_ID: claim.attempt_id,
        A.FENCE: claim.fence,
        A.LEASE_UNTIL_MS: claim.lease_until_ms,
        A.RETRY_SAFE: claim.retry_safe,
        A.TTL: claim.ttl,
        A.UPDATED_BY: author_attribute(claim.author),
    }


def lease_from(stored: Attributes) -> dict[str, Any]:
    """The fields of ``LeasedClaim``."""
    return {
        "owner": owner_from(stored),
        "status": ClaimStatus(stored[A.CLAIM_STATUS]),
        "input_hash": stored[A.INPUT_HASH],
        "outcome_hash": stored[A.OUTCOME_HASH],
        "started_at": from_iso(stored[A.STARTED_AT]),
        "attempt_id": stored[A.ATTEMPT_ID],
        "fence": stored[A.FENCE],
        "lease_until_ms": stored[A.LEASE_UNTIL_MS],
        "retry_safe": stored[A.RETRY_SAFE],
        "ttl": stored[A.TTL],
        "author": author_from(stored),
    }


def put_guarded(
    client: Client,
    item: Item,
    guard: ClaimGuard,
    *,
    clause: Callable[[Terms, ClaimGuard], str],
    read: Callable[[Item], ClaimT],
) -> Refused[ClaimT] | None:
    """As ``ports.ToolCallStorage.put``. ``clause`` makes the guard's condition, ``read`` decodes an item.

    A refusal by the very item to write means that it was written before, and the response was lost.
    """
    terms = Terms()
    condition = clause(terms, guard)
    try:
        client.put(item, ConditionExpression=condition, **terms.arguments())
    except ConditionFailedError as failed:
        if failed.item == item:
            return None
        return Refused(held=None if failed.item is None else read(failed.item))
    return None


def open_input(claim: Claim) -> Mapping[str, JsonValue]:
    """The input of a call that is in progress, for its record: the request that ends it does not repeat it.

    A settled claim is small: its record has the input.
    """
    return {} if claim.is_settled else {A.INPUT: payload_attribute(claim.input)}


def open_input_from(stored: Attributes) -> JsonValue | StoredPayload:
    """The input that ``open_input`` wrote; None if the claim is settled."""
    return payload_from(stored[A.INPUT]) if A.INPUT in stored else None
