"""The bodies of answers about sessions, messages and the audit trail, and those to operators."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from session_store.domain.audit_event import AuditEntry
from session_store.domain.message import Message
from session_store.domain.session import ExpiringSession, Session, SessionSummary
from session_store.domain.times import MILLIS, iso

StatusName = Literal["initializing", "active", "closing", "closed"]


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A JSON object. Instants are ISO 8601 in UTC with milliseconds, ``ttl`` is epoch seconds."""


class SessionAnswer(Answer, frozen=True):
    session_id: str
    status: StatusName
    version: int
    state: Mapping[str, Any]
    protocol: Mapping[str, Any]
    subject: str
    created_at: str
    updated_at: str
    ttl: int
    expires_at: str
    max_expires_at: str
    idle_timeout: int
    home_region: str


class SessionSummaryAnswer(Answer, frozen=True):
    """A session as a list shows it: without state, and without what every write changes."""

    session_id: str
    status: StatusName
    subject: str
    created_at: str
    ttl: int
    expires_at: str
    max_expires_at: str
    idle_timeout: int
    home_region: str


class ExpiringSessionAnswer(Answer, frozen=True):
    session_id: str
    status: StatusName
    tenant: str
    subject: str
    ttl: int
    expires_at: str
    home_region: str


class MessageAnswer(Answer, frozen=True):
    message_id: str
    content: Any
    appended_at: str


class SessionPage(Answer, frozen=True):
    items: list[SessionSummaryAnswer]
    next_cursor: str | None


class ExpiringPage(Answer, frozen=True):
    items: list[ExpiringSessionAnswer]
    next_cursor: str | None


class MessagePage(Answer, frozen=True):
    items: list[MessageAnswer]
    next_cursor: str | None


class AppendedMessages(Answer, frozen=True):
    items: list[MessageAnswer]


class DifferenceAnswer(Answer, frozen=True):
    """``path`` is a JSON Pointer; ``old`` is null where the value was added, ``new`` where it was removed."""

    op: Literal["added", "removed", "changed"]
    path: str
    old: Any
    new: Any


class AuditEntryAnswer(Answer, frozen=True):
    kind: Literal["change", "event"]
    event_name: str
    at: str
    actor: str | None
    region: str
    changes: list[DifferenceAnswer]
    facts: Mapping[str, Any]
    sequence_number: str | None


class AuditPage(Answer, frozen=True):
    items: list[AuditEntryAnswer]
    next_cursor: str | None


class DrainAnswer(Answer, frozen=True):
    """``skipped`` were used or ended meanwhile, or are at home elsewhere. ``more``: call again."""

    moved: int
    skipped: int
    more: bool


class HealthAnswer(Answer, frozen=True):
    status: Literal["ok"]


def session_answer(session: Session) -> SessionAnswer:
    return SessionAnswer(
        session_id=session.session_id,
        status=session.status.value,
        version=session.version,
        state=session.state,
        protocol=session.protocol,
        subject=session.owner.subject,
        created_at=iso(session.created_at),
        updated_at=iso(session.updated_at),
        ttl=session.ttl,
        expires_at=_end(session.ttl),
        max_expires_at=_end(session.max_expires_at),
        idle_timeout=session.idle_timeout,
        home_region=session.home_region,
    )


def summary_answer(session: SessionSummary) -> SessionSummaryAnswer:
    return SessionSummaryAnswer(
        session_id=session.session_id,
        status=session.status.value,
        subject=session.owner.subject,
        created_at=iso(session.created_at),
        ttl=session.ttl,
        expires_at=_end(session.ttl),
        max_expires_at=_end(session.max_expires_at),
        idle_timeout=session.idle_timeout,
        home_region=session.home_region,
    )


def expiring_answer(session: ExpiringSession) -> ExpiringSessionAnswer:
    return ExpiringSessionAnswer(
        session_id=session.session_id,
        status=session.status.value,
        tenant=session.owner.tenant,
        subject=session.owner.subject,
        ttl=session.ttl,
        expires_at=_end(session.ttl),
        home_region=session.home_region,
    )


def message_answer(message: Message) -> MessageAnswer:
    return MessageAnswer(
        message_id=message.message_id,
        content=message.content,
        appended_at=iso(message.appended_at),
    )


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


def _end(ttl: int) -> str:
    return iso(ttl * MILLIS)
