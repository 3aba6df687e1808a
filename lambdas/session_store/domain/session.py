"""Sessions, their owners, and the checks on reading and writing them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from session_store.domain.caller import Caller
from session_store.domain.json_values import JsonValue
from session_store.domain.times import is_expired, seconds
from session_store.domain.window import Window, window_from
from session_store.errors import SessionClosedError, SessionNotFoundError


class Status(StrEnum):
    INITIALIZING = "initializing"
    ACTIVE = "active"
    CLOSING = "closing"
    CLOSED = "closed"


WRITABLE: Final = frozenset({Status.INITIALIZING, Status.ACTIVE})
SLIDING: Final = frozenset({Status.INITIALIZING, Status.ACTIVE, Status.CLOSING})
ANY_STATUS: Final = frozenset(Status)


class Owner(Struct, frozen=True, kw_only=True):
    tenant: str
    subject: str


def owner_of(caller: Caller) -> Owner:
    return Owner(tenant=caller.tenant, subject=caller.subject)


class Author(Struct, frozen=True, kw_only=True):
    """The principal of the last write, and its request id."""

    principal: str
    request_id: str


def author_of(caller: Caller) -> Author:
    return Author(principal=f"{caller.tenant} {caller.subject}", request_id=caller.request_id)


class Session(Struct, frozen=True, kw_only=True):
    """The metadata of a session, its only mutable item.

    ``created_at`` and ``updated_at`` in milliseconds; ``ttl``, ``slide_after`` and ``max_expires_at`` in
    epoch seconds; ``idle_timeout`` in seconds.
    """

    session_id: str
    owner: Owner
    status: Status
    version: int
    created_at: int
    updated_at: int
    ttl: int
    slide_after: int
    idle_timeout: int
    max_expires_at: int
    home_region: str
    write_region: str
    updated_by: Author
    last_write: str
    state: Mapping[str, JsonValue] = field(default_factory=dict)
    protocol: Mapping[str, JsonValue] = field(default_factory=dict)
    credential_refs: tuple[str, ...] = ()
    warned_ttl: int | None = None
    """The ``ttl`` for which ``SessionExpiringSoon`` was sent."""

    def slide_due(self, now_ms: int) -> bool:
        """Whether a use of the session at ``now_ms`` has to move its end."""
        return (
            self.status in SLIDING
            and self.slide_after <= seconds(now_ms)
            and self.ttl < self.window_at(now_ms).ttl
        )

    def window_at(self, now_ms: int) -> Window:
        """The window of this session if it is used at ``now_ms``."""
        return window_from(now_ms, idle_timeout=self.idle_timeout, max_expires_at=self.max_expires_at)


class SessionSummary(Struct, frozen=True, kw_only=True):
    """A session as the owner index has it, without what ordinary writes change."""

    session_id: str
    owner: Owner
    status: Status
    created_at: int
    ttl: int
    idle_timeout: int
    max_expires_at: int
    home_region: str


class ExpiringSession(Struct, frozen=True, kw_only=True):
    """A session as the status/ttl index has it."""

    session_id: str
    owner: Owner
    status: Status
    ttl: int
    home_region: str
    warned_ttl: int | None = None


def check_readable(session: Session | None, *, owner: Owner, now_ms: int) -> Session:
    """The session, if it is this owner's and has not expired.

    Raises:
        SessionNotFoundError: absent, expired, or of another owner.
    """
    if session is None or session.owner != owner or is_expired(session.ttl, now_ms):
        raise SessionNotFoundError
    return session


def check_writable(session: Session) -> Session:
    """The session, if it accepts new writes.

    Raises:
        SessionClosedError: it is closing or closed.
    """
    if session.status not in WRITABLE:
        raise SessionClosedError(status=session.status)
    return session
