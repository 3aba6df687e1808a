"""The audit trail: changes that the stream tells, and events that are written with what they tell of."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from session_store.domain.differences import Difference
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author


class AuditEvent(Struct, frozen=True, kw_only=True):
    """``pk`` is of the session or task that it tells of. ``at`` in milliseconds.

    ``ttl`` (epoch seconds) is the audit's own retention, not the session's. ``facts`` are what
    there is to say of the event; never state, messages or tokens.
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
    """One record of the stream. ``author`` is None where the stream cannot tell who did it."""

    pk: str
    sk: str
    """Of the item that changed."""

    event_name: str
    at: int
    author: Author | None
    region: str
    stream: str
    sequence_number: str
    changes: tuple[Difference, ...]
    ttl: int


class AuditEntry(Struct, frozen=True, kw_only=True):
    """A line of the trail as its reader sees it."""

    kind: Literal["change", "event"]
    event_name: str
    at: int
    actor: str | None
    region: str
    sequence_number: str | None
    changes: tuple[Difference, ...]
    ttl: int
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
