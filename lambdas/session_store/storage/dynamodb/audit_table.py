"""The audit trail in DynamoDB."""

from msgspec import Struct

from session_store.domain.audit_event import AuditChange, AuditEntry, AuditEvent
from session_store.domain.page import AuditPosition, Page, PageRequest
from session_store.schema import Attribute
from session_store.storage.dynamodb.audit_items import audit_change_item, audit_entry_from, audit_event_item
from session_store.storage.dynamodb.client import Client, ConditionFailedError
from session_store.storage.dynamodb.codec import from_attribute, to_item
from session_store.storage.dynamodb.expressions import Terms, is_absent
from session_store.storage.dynamodb.partition import query_partition


class AuditTable(Struct, frozen=True, kw_only=True):
    """The audit trail; ``client`` is that of the audit table."""

    client: Client

    def put_event(self, event: AuditEvent) -> AuditEntry | None:
        terms = Terms()
        condition = is_absent(terms)
        item = audit_event_item(event)
        try:
            self.client.put(item, ConditionExpression=condition, **terms.arguments())
        except ConditionFailedError as failed:
            return None if failed.item in (None, item) else audit_entry_from(failed.item)
        return None

    def put(self, change: AuditChange) -> None:
        terms = Terms()
        condition = is_absent(terms)
        try:
            self.client.put(audit_change_item(change), ConditionExpression=condition, **terms.arguments())
        except ConditionFailedError:
            # Delivered again: the key follows from the record, so the stored item is this change.
            return

    def page(self, pk: str, page: PageRequest[AuditPosition]) -> Page[AuditEntry, AuditPosition]:
        after = None if page.after is None else to_item({Attribute.PK: pk, Attribute.SK: page.after.sk})
        items, more = query_partition(
            self.client, pk, "", limit=page.limit, after=after, descending=page.descending
        )
        entries = tuple(audit_entry_from(item) for item in items)
        last = AuditPosition(sk=from_attribute(items[-1][Attribute.SK])) if more and items else None
        return Page(items=entries, next=last)
