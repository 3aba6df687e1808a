"""The transaction that ends a tool call: its items, its limits, and the meaning of its refusal."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from session_store.domain.settlement import Settlement
from session_store.errors import PayloadTooLargeError
from session_store.storage.dynamodb.audit_items import audit_event_item
from session_store.storage.dynamodb.child_items import claim_item, record_item
from session_store.storage.dynamodb.client import TransactionRefusedError
from session_store.storage.dynamodb.codec import Item, item_size
from session_store.storage.dynamodb.expressions import Terms, conditional_put, is_admitted, unconditional_put
from session_store.storage.dynamodb.message_table import message_put
from session_store.storage.dynamodb.session_updates import (
    refused_transaction,
    session_or_none,
    transacted_check,
    transacted_update,
)
from session_store.storage.dynamodb.task_items import new_task_put

MAX_ITEMS: Final = 100
MAX_BYTES: Final = 4 * 1024 * 1024
"""Limits of one transaction (*Service, account, and table quotas*, "DynamoDB transactions")."""

TWIN_PAUSE: Final = 2
"""Number of the backoff pause in which another request with the same token can finish."""

CLAIM: Final = 0
"""Position of the claim in the transaction."""


def settlement_items(
    settlement: Settlement, *, table: str, audit_table: str, region: str, shards: int
) -> list[dict[str, Any]]:
    """The items of the transaction: the claim first and, if it is in the transaction, the session last."""
    claim = claim_item(settlement.claim, region=region)
    terms = Terms()
    condition = is_admitted(terms, settlement.guard)
    items = [conditional_put(claim, table=table, terms=terms, condition=condition)]
    if settlement.record is not None:
        items.append(unconditional_put(record_item(settlement.record, region=region), table=table))
    items.append(unconditional_put(audit_event_item(settlement.event), table=audit_table))
    items += [message_put(message, table=table, region=region) for message in settlement.messages]
    items += [new_task_put(task, table=table, shards=shards) for task in settlement.tasks]
    if settlement.write is not None:
        items.append(transacted_update(settlement.write, table=table))
    if settlement.condition is not None:
        items.append(transacted_check(settlement.claim.session_id, settlement.condition, table=table))
    return items


def check_session_refusal(settlement: Settlement, refused: TransactionRefusedError, *, position: int) -> None:
    """Raise the error that the refusal means, if the session at ``position`` alone refused.

    Pass where the session is not in the transaction: its last item then is a message or a task. Pass too
    where another write was in progress on the claim: it may be the twin of this one, and what the session
    refuses may be the twin's own work.

    Raises:
        StoreError: the claim is as expected, and a clause of the session's guard does not hold.
    """
    write = settlement.write
    guard = settlement.condition if write is None else write.guard
    if guard is None or set(refused.held) != {position} or CLAIM in refused.conflicting:
        return
    session, lost = session_or_none(refused.held[position]), refused.answer_lost
    change = None if write is None else write.change
    raise refused_transaction(session, guard, change, answer_lost=lost) from refused


def check_limits(items: Sequence[Mapping[str, Any]]) -> None:
    """Check the limits of a transaction before it is sent: DynamoDB's refusal would not name the limit.

    Raises:
        PayloadTooLargeError
    """
    if len(items) > MAX_ITEMS:
        detail = f"At most {MAX_ITEMS} items in one transaction, not {len(items)}"
        raise PayloadTooLargeError(detail, limit=MAX_ITEMS, size=len(items))
    size = sum(item_size(_sent(item)) for item in items)
    if size > MAX_BYTES:
        detail = f"At most {MAX_BYTES} bytes in one transaction"
        raise PayloadTooLargeError(detail, limit=MAX_BYTES, size=size)


def _sent(item: Mapping[str, Any]) -> Item:
    """The item of a put, or the values of an update or a condition."""
    if "Put" in item:
        return dict(item["Put"]["Item"])
    (action,) = item.values()
    return dict(action.get("ExpressionAttributeValues", {}))
