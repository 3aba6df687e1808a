"""What is written to the audit trail inside a transaction, not by the stream."""

from dataclasses import dataclass

from session_store.domain.session import Author


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """``at`` in milliseconds; ``ttl`` (epoch seconds) is the audit's own retention, not the session's."""

    session_id: str
    event_name: str
    at: int
    author: Author
    region: str
    operation_id: str
    ttl: int
