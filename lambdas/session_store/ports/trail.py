"""The audit, and what is kept aside because it cannot be audited."""

from collections.abc import Mapping
from typing import Any, Protocol

from session_store.domain.audit_event import AuditChange, AuditEntry, AuditEvent
from session_store.domain.dead_letter import Quarantined
from session_store.domain.page import (
    AuditPosition,
    Page,
    PageRequest,
)


class AuditStorage(Protocol):
    def put_event(self, event: AuditEvent) -> AuditEntry | None:
        """None when the event is kept now; else the entry that holds its key, of an earlier attempt."""
        ...

    def put(self, change: AuditChange) -> None:
        """Keep the change; one that is kept already is the same one, delivered again."""
        ...

    def page(self, pk: str, page: PageRequest[AuditPosition]) -> Page[AuditEntry, AuditPosition]:
        """The trail of a session or task, by its partition key, in time order; read consistently."""
        ...


class Quarantine(Protocol):
    def keep(self, raw: Mapping[str, Any], *, name: str, reason: str) -> None:
        """Keep a record of the stream whole, under a name of its own; kept twice, it is there once."""
        ...


class QuarantineCount(Protocol):
    def count(self) -> Quarantined: ...
