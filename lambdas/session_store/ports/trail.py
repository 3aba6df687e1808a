"""The audit trail, and the quarantine for records that cannot be audited."""

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
        """Store the event. None when stored; otherwise the entry of an earlier attempt, which has its key."""
        ...

    def put(self, change: AuditChange) -> None:
        """Store the change. One that exists already is the same, delivered again."""
        ...

    def page(self, pk: str, page: PageRequest[AuditPosition]) -> Page[AuditEntry, AuditPosition]:
        """Read the trail of a session or task, by its partition key, in time order, consistently."""
        ...


class Quarantine(Protocol):
    def keep(self, raw: Mapping[str, Any], *, name: str, reason: str) -> None:
        """Store a whole stream record under a unique name. Idempotent."""
        ...


class QuarantineCount(Protocol):
    def count(self) -> Quarantined:
        """Count the records in quarantine."""
        ...
