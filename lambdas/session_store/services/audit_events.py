"""Events for the audit trail, written in the transaction they describe."""

from msgspec import Struct

from session_store.domain.audit_event import AuditEvent
from session_store.domain.caller import Caller
from session_store.domain.session import author_of
from session_store.domain.times import seconds
from session_store.ports import Ids


class AuditEvents(Struct, frozen=True, kw_only=True):
    ids: Ids
    region: str
    retention: int
    """Seconds that an event is kept."""

    def of(self, caller: Caller, event_name: str, *, pk: str, at: int) -> AuditEvent:
        """Build an event at ``at`` (ms). Its ``operation_id`` also serves as the transaction's token."""
        return AuditEvent(
            pk=pk,
            event_name=event_name,
            at=at,
            author=author_of(caller),
            region=self.region,
            operation_id=self.ids.operation_id(),
            ttl=seconds(at) + self.retention,
        )
