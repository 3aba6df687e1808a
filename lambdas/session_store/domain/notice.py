"""What the store tells the world by its event bus."""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from session_store.domain.json_values import JsonValue, encode
from session_store.domain.session import ExpiringSession
from session_store.domain.session_end import SessionEnd
from session_store.domain.times import MILLIS, iso

MAX_NOTICES: Final = 10
"""That one request to the bus carries (*PutEvents*)."""


class NoticeName(StrEnum):
    SESSION_ENDED = "SessionEnded"
    SESSION_EXPIRING_SOON = "SessionExpiringSoon"


class Notice(Struct, frozen=True, kw_only=True):
    """An event of the bus. A notice sent again has the same ``event_id``, by which a receiver drops it.

    ``at`` in milliseconds. ``detail`` bears the event id too: the bus gives each copy an id of its own.
    """

    name: NoticeName
    event_id: str
    at: int
    detail: Mapping[str, JsonValue]


def event_id(name: NoticeName, *facts: JsonValue) -> str:
    """The same for the same event: 32 hex digits of SHA-256."""
    return hashlib.sha256(encode([name.value, *facts])).hexdigest()[:32]


def session_ended_id(session_id: str) -> str:
    """A session ends once, so its id is enough."""
    return event_id(NoticeName.SESSION_ENDED, session_id)


def session_ended(end: SessionEnd, summary: Mapping[str, JsonValue], *, region: str) -> Notice:
    """``summary`` is what the audit trail says of the end."""
    identity = session_ended_id(end.session_id)
    return Notice(
        name=NoticeName.SESSION_ENDED,
        event_id=identity,
        at=end.ended_at,
        detail={
            "eventId": identity,
            "sessionId": end.session_id,
            "tenant": end.owner.tenant,
            "subject": end.owner.subject,
            "region": region,
            **summary,
        },
    )


def session_expiring_soon(session: ExpiringSession, *, at: int) -> Notice:
    """One a session and end: when the end moves, the next warning is another event."""
    identity = event_id(NoticeName.SESSION_EXPIRING_SOON, session.session_id, session.ttl)
    return Notice(
        name=NoticeName.SESSION_EXPIRING_SOON,
        event_id=identity,
        at=at,
        detail={
            "eventId": identity,
            "sessionId": session.session_id,
            "tenant": session.owner.tenant,
            "subject": session.owner.subject,
            "region": session.home_region,
            "status": session.status.value,
            "ttl": session.ttl,
            "expiresAt": iso(session.ttl * MILLIS),
        },
    )
