"""Events that the store sends to the event bus."""

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
"""Events that one request to the bus takes (*PutEvents*)."""


class NoticeName(StrEnum):
    SESSION_ENDED = "SessionEnded"
    SESSION_EXPIRING_SOON = "SessionExpiringSoon"


class Notice(Struct, frozen=True, kw_only=True):
    """An event for the bus. An event sent again has the same ``event_id``, so that receivers can drop it.

    ``at`` in milliseconds. ``detail`` has the event id too, because the bus gives each copy its own id.
    """

    name: NoticeName
    event_id: str
    at: int
    detail: Mapping[str, JsonValue]


def event_id(name: NoticeName, *facts: JsonValue) -> str:
    """An id that is the same for the same event: 32 hex digits of SHA-256."""
    return hashlib.sha256(encode([name.value, *facts])).hexdigest()[:32]


def session_ended_id(session_id: str) -> str:
    """The id of a session's ``SessionEnded``: a session ends once, so it follows from the session id."""
    return event_id(NoticeName.SESSION_ENDED, session_id)


def session_ended(end: SessionEnd, summary: Mapping[str, JsonValue], *, region: str) -> Notice:
    """The event of a session's end; ``summary`` has the facts of its audit event."""
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
    """The warning of a session's end; when the end moves, the next warning is another event."""
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
