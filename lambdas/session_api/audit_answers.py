"""Response bodies about the audit trail."""

from collections.abc import Mapping
from typing import Any, Literal

from session_api.answers import Answer
from session_store.domain.audit_event import AuditEntry
from session_store.domain.times import iso


class DifferenceAnswer(Answer, frozen=True):
    """One member of an item that a write added, removed or changed."""

    op: Literal["added", "removed", "changed"]
    """What happened to the member."""

    path: str
    """A JSON Pointer (RFC 6901) from the item, such as `/state/a.b/0`."""

    old: Any
    """The value before; null where it was added. Large or sensitive values appear as size and SHA-256."""

    new: Any
    """The value after; null where it was removed. Large or sensitive values appear as size and SHA-256."""


class AuditEntryAnswer(Answer, frozen=True):
    """One entry of the audit trail of a session and its child items."""

    kind: Literal["change", "event"]
    """`change` comes from the table's stream, `event` is written in the transaction that it reports."""

    event_name: str
    """What happened: `SessionChanged` or `MessageCreated` for a change, `ToolCallCompleted` for an event."""

    at: str
    """When it happened."""

    actor: str | None
    """The tenant and subject that did it; null where the stream does not name them."""

    region: str
    """The AWS region that wrote it."""

    changes: list[DifferenceAnswer]
    """The differences of a change, path by path; empty for an event."""

    facts: Mapping[str, Any]
    """What an event reports beside its name; never state, messages or tokens."""

    sequence_number: str | None
    """The sequence number of a change in the stream; null for an event."""


class AuditPage(Answer, frozen=True):
    """A page of the audit trail, oldest first."""

    items: list[AuditEntryAnswer]
    """Possibly fewer than the limit, also before the last page."""

    next_cursor: str | None
    """The `cursor` of the next page; null at the end of the list."""


def audit_answer(entry: AuditEntry) -> AuditEntryAnswer:
    return AuditEntryAnswer(
        kind=entry.kind,
        event_name=entry.event_name,
        at=iso(entry.at),
        actor=entry.actor,
        region=entry.region,
        changes=[
            DifferenceAnswer(op=each.operation.value, path=each.path, old=each.old, new=each.new)
            for each in entry.changes
        ],
        facts=entry.facts,
        sequence_number=entry.sequence_number,
    )
