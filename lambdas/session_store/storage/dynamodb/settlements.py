"""The end of a tool call as one transaction: what it sends, and what a refusal of it means."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from session_store.domain.settlement import Settlement
from session_store.errors import PayloadTooLargeError
from session_store.storage.dynamodb.audit_items import audit_event_item
from session_store.storage.dynamodb.child_items import claim_item, record_item
from session_store.storage.dynamodb.client import Client, TokenUsedError, TransactionRefusedError
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
"""Of one transaction (*Service, account, and table quotas*, "DynamoDB transactions")."""

TWIN_PAUSE: Final = 2
"""Which of the growing pauses is made for another request of this token to be done."""

CLAIM: Final = 0
"""Position of the claim: it is judged first."""


class Settlements(Struct, frozen=True, kw_only=True):
    client: Client
    audit_table: str
    region: str
    shards: int

    def settle(self, settlement: Settlement) -> bool:
        """As ``ports.ToolCallStorage.settle``.

        Raises:
            StoreError: the claim is as expected, and a clause of the session's guard does not hold.
            PayloadTooLargeError: more than a transaction takes, or the session would pass 400 KB.
        """
        items = self._items(settlement)
        check_limits(items)
        try:
            self.client.transact(items, token=settlement.token)
        except TokenUsedError:
            self.client.attempts.pause(TWIN_PAUSE)
            return False
        except TransactionRefusedError as refused:
            self._check_write(settlement, refused, position=len(items) - 1)
            return False
        return True

    def _items(self, settlement: Settlement) -> list[dict[str, Any]]:
        """The claim first, the session's metadata last."""
        table, region = self.client.table, self.region
        items = [self._claim(settlement)]
        if settlement.record is not None:
            items.append(unconditional_put(record_item(settlement.record, region=region), table=table))
        items.append(unconditional_put(audit_event_item(settlement.event), table=self.audit_table))
        items += [message_put(message, table=table, region=region) for message in settlement.messages]
        items += [new_task_put(task, table=table, shards=self.shards) for task in settlement.tasks]
        if settlement.write is not None:
            items.append(transacted_update(settlement.write, table=table))
        if settlement.condition is not None:
            items.append(transacted_check(settlement.claim.session_id, settlement.condition, table=table))
        return items

    def _claim(self, settlement: Settlement) -> dict[str, Any]:
        terms = Terms()
        condition = is_admitted(terms, settlement.guard)
        item = claim_item(settlement.claim, region=self.region)
        return conditional_put(item, table=self.client.table, terms=terms, condition=condition)

    def _check_write(
        self, settlement: Settlement, refused: TransactionRefusedError, *, position: int
    ) -> None:
        """Raise what the session's refusal means, if it is the session that stands in the way.

        Where another write is at work on the claim, it may be this call's own, and the session's refusal
        its work.
        """
        write, guard = settlement.write, settlement.condition
        if set(refused.held) != {position} or CLAIM in refused.met:
            return
        there, lost = session_or_none(refused.held[position]), refused.answer_lost
        if write is not None:
            raise refused_transaction(there, write.guard, write.change, answer_lost=lost) from refused
        if guard is not None:
            raise refused_transaction(there, guard, answer_lost=lost) from refused


def check_limits(items: Sequence[Mapping[str, Any]]) -> None:
    """Judged before anything is sent: a refusal by DynamoDB would not say which limit.

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
    """What a put stores, or the values that an update or a condition brings."""
    if "Put" in item:
        return dict(item["Put"]["Item"])
    (action,) = item.values()
    return dict(action.get("ExpressionAttributeValues", {}))
