"""The audit trail: changes that the stream tells, and events that are written with what they tell of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from session_store.domain.differences import Difference
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditChange:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
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
