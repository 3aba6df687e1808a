"""The audit trail: changes read from the stream, and events that the store writes itself."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from session_store.domain.differences import Difference
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author


class AuditEvent(Struct, frozen=True, kw_only=True):
    """Something that a caller or the store did to a session or task, whose partition key is ``pk``.

    ``at`` in milliseconds. ``ttl`` (epoch seconds) follows the audit retention, not the session's life.
    ``facts`` are details of the event; never state, messages or tokens.
    """

    pk: str
    event_name: str
    at: int
    author: Author
    region: str
    operation_id: str
    ttl: int
    facts: Mapping[str, JsonValue] = field(default_factory=dict)


class AuditChange(Struct, frozen=True, kw_only=True):
    """One record of the stream. ``author`` is None where the record names no writer."""

    pk: str
    sk: str
    """Sort key of the item that changed."""

    event_name: str
    at: int
    author: Author | None
    region: str
    stream: str
    sequence_number: str
    changes: tuple[Difference, ...]
    ttl: int


class AuditEntry(Struct, frozen=True, kw_only=True):
    """One entry of the trail, as a reader gets it."""

    kind: Literal["change", "event"]
    event_name: str
    at: int
    actor: str | None
    region: str
    sequence_number: str | None
    changes: tuple[Difference, ...]
    ttl: int
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
