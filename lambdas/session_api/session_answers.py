"""Response bodies about sessions, and the header that goes with them."""

from collections.abc import Mapping
from typing import Any, Literal

from session_api.answers import Answer, iso_of_seconds
from session_store.domain.session import Session, SessionSummary
from session_store.domain.times import iso

StatusName = Literal["initializing", "active", "closing", "closed"]


class SessionAnswer(Answer, frozen=True):
    """A session with its state."""

    session_id: str
    """Minted by the store, never reused. A name, not a capability: every call is checked against its caller.
    """

    status: StatusName
    """`initializing` and `active` take every write. `closing` lets running tool calls end, `closed` is final.
    """

    version: int
    """Rises by 1 with every write of the session; sliding expiration leaves it alone. Also the `ETag`."""

    state: Mapping[str, Any]
    """The caller's own data. Numbers come back equal and exact."""

    protocol: Mapping[str, Any]
    """What the session was created with, such as `protocolVersion`, `clientInfo` and `capabilities`."""

    subject: str
    """The end user that owns the session within its tenant; `-` where none was named."""

    created_at: str
    """When the session was created."""

    updated_at: str
    """When the session was last written; sliding expiration leaves it alone."""

    ttl: int
    """When the session expires unless it is used before: `expiresAt` in epoch seconds."""

    expires_at: str
    """When the session expires unless it is used before; each use moves it by `idleTimeout`."""

    max_expires_at: str
    """When the session expires at the latest, however much it is used."""

    idle_timeout: int
    """Seconds without use after which the session expires; the end may come up to a tenth of it earlier."""

    home_region: str
    """The AWS region that minted the session and alone writes it."""


class SessionSummaryAnswer(Answer, frozen=True):
    """A session as a list shows it: without its state, version and other members that every write changes."""

    session_id: str
    """The session's id."""

    status: StatusName
    """The session's status."""

    subject: str
    """The end user that owns the session within its tenant; `-` where none was named."""

    created_at: str
    """When the session was created."""

    ttl: int
    """When the session expires unless it is used before: `expiresAt` in epoch seconds."""

    expires_at: str
    """When the session expires unless it is used before."""

    max_expires_at: str
    """When the session expires at the latest."""

    idle_timeout: int
    """Seconds without use after which the session expires."""

    home_region: str
    """The AWS region that alone writes the session."""


class SessionPage(Answer, frozen=True):
    """A page of the caller's sessions, newest first."""

    items: list[SessionSummaryAnswer]
    """Possibly fewer than the limit, also before the last page."""

    next_cursor: str | None
    """The `cursor` of the next page; null at the end of the list."""


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
        expires_at=iso_of_seconds(session.ttl),
        max_expires_at=iso_of_seconds(session.max_expires_at),
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
        expires_at=iso_of_seconds(session.ttl),
        max_expires_at=iso_of_seconds(session.max_expires_at),
        idle_timeout=session.idle_timeout,
        home_region=session.home_region,
    )


def etag_header(session: Session) -> dict[str, str]:
    return {"ETag": f'"{session.version}"'}
