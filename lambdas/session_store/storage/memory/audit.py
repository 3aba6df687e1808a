"""The audit trail in memory."""

from dataclasses import dataclass

from session_store.domain.audit_event import AuditChange, AuditEntry, AuditEvent
from session_store.domain.page import (
    AuditPosition,
    Page,
    PageRequest,
)
from session_store.schema import Attribute
from session_store.storage.dynamodb.audit_items import audit_change_item, audit_entry_from, audit_event_item
from session_store.storage.dynamodb.codec import item_size, to_attribute
from session_store.storage.memory.pages import (
    audit_position,
    by_sk,
    paged,
)
from session_store.storage.memory.state import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAudit:
    memory: Memory

    def put_event(self, event: AuditEvent) -> AuditEntry | None:
        item = audit_event_item(event)
        with self.memory.lock:
            for existing in map(audit_event_item, self.memory.events):
                if all(existing[name] == item[name] for name in (Attribute.PK, Attribute.SK)):
                    return None if existing == item else audit_entry_from(existing)
            self.memory.events.append(event)
        return None

    def put(self, change: AuditChange) -> None:
        with self.memory.lock:
            self.memory.changes.setdefault((change.stream, change.sequence_number), change)

    def page(self, pk: str, page: PageRequest[AuditPosition]) -> Page[AuditEntry, AuditPosition]:
        with self.memory.lock:
            items = [audit_event_item(event) for event in self.memory.events]
            items += [audit_change_item(change) for change in self.memory.changes.values()]
        trail = [item for item in items if item[Attribute.PK] == to_attribute(pk)]
        entries = paged(trail, page, place=audit_position, order=by_sk, size=item_size)
        return Page(items=tuple(map(audit_entry_from, entries.items)), next=entries.next)
