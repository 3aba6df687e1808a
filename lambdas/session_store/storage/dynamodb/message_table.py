"""Context messages in DynamoDB."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from session_store.domain.message import Message
from session_store.domain.page import MessagePosition, Page, PageRequest
from session_store.schema import CONTEXT_SK_PREFIX, Attribute, session_pk
from session_store.storage.dynamodb.child_items import message_from, message_item, message_key
from session_store.storage.dynamodb.client import Client, ConditionFailedError, TransactionRefusedError
from session_store.storage.dynamodb.expressions import Terms, conditional_put, is_absent
from session_store.storage.dynamodb.partition import query_partition

A: Final = Attribute


def message_put(message: Message, *, table: str, region: str) -> dict[str, Any]:
    """The message as a put of a transaction, if its id is free."""
    terms = Terms()
    condition = is_absent(terms, message.appended_at)
    return conditional_put(
        message_item(message, region=region), table=table, terms=terms, condition=condition
    )


class MessageTable(Struct, frozen=True, kw_only=True):
    client: Client
    region: str

    def put(self, message: Message) -> Message | None:
        terms = Terms()
        condition = is_absent(terms, message.appended_at)
        item = message_item(message, region=self.region)
        try:
            self.client.put(item, ConditionExpression=condition, **terms.arguments())
        except ConditionFailedError as failed:
            return None if failed.item in (None, item) else message_from(failed.item)
        return None

    def put_all(self, messages: Sequence[Message], *, operation_id: str) -> dict[str, Message]:
        puts = [message_put(message, table=self.client.table, region=self.region) for message in messages]
        try:
            self.client.transact(puts, token=operation_id)
        except TransactionRefusedError as refused:
            held = (message_from(item) for item in refused.held.values() if item is not None)
            return {message.message_id: message for message in held}
        return {}

    def read_all(self, session_id: str, message_ids: Sequence[str]) -> dict[str, Message]:
        keys = [message_key(session_id, message_id) for message_id in message_ids]
        messages = (message_from(item) for item in self.client.get_all(keys))
        return {message.message_id: message for message in messages}

    def page(self, session_id: str, page: PageRequest[MessagePosition]) -> Page[Message, MessagePosition]:
        after = None if page.after is None else message_key(session_id, page.after.message_id)
        items, more = query_partition(
            self.client,
            session_pk(session_id),
            CONTEXT_SK_PREFIX,
            limit=page.limit,
            after=after,
            descending=page.descending,
        )
        messages = tuple(message_from(item) for item in items)
        last = MessagePosition(message_id=messages[-1].message_id) if more and messages else None
        return Page(items=messages, next=last)
