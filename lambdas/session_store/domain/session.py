"""A session: what it is, what may be done to it, and what each change makes of it.

Everything here is pure. An adapter either asks these functions (memory) or turns
a guard into a condition expression and asks them only to explain a refusal.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from session_store.domain.caller import Caller
from session_store.domain.json_values import JsonValue
from session_store.domain.state_operations import StateOperations, applied, type_violation
from session_store.domain.times import is_over, seconds
from session_store.domain.window import Window, window_from
from session_store.errors import (
    InvalidTransitionError,
    MisdirectedError,
    SessionClosedError,
    SessionNotFoundError,
    StoreError,
    VersionConflictError,
)

CLOSED_RETENTION: Final = 86_400
"""Seconds that a closed session stays readable, at most."""


class Status(StrEnum):
    INITIALIZING = "initializing"
    ACTIVE = "active"
    CLOSING = "closing"
    CLOSED = "closed"


PREDECESSORS: Final[dict[Status, frozenset[Status]]] = {
    Status.ACTIVE: frozenset({Status.INITIALIZING}),
    Status.CLOSING: frozenset({Status.INITIALIZING, Status.ACTIVE}),
    Status.CLOSED: frozenset({Status.CLOSING}),
}
"""Where each status may be entered from; there is no other way."""

WRITABLE: Final = frozenset({Status.INITIALIZING, Status.ACTIVE})
SLIDING: Final = frozenset({Status.INITIALIZING, Status.ACTIVE, Status.CLOSING})
ANY_STATUS: Final = frozenset(Status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    tenant: str
    subject: str


def owner_of(caller: Caller) -> Owner:
    return Owner(tenant=caller.tenant, subject=caller.subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who wrote last, and in which request."""

    principal: str
    request_id: str


def author_of(caller: Caller) -> Author:
    return Author(principal=f"{caller.tenant} {caller.subject}", request_id=caller.request_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The one mutable item of a session. Instants in milliseconds, ``ttl`` and such in seconds."""

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

    def slide_due(self, now_ms: int) -> bool:
        """Whether this use of the session has to move its end."""
        return (
            self.status in SLIDING and self.slide_after <= seconds(now_ms) and self.ttl < self.max_expires_at
        )

    def window_at(self, now_ms: int) -> Window:
        return window_from(now_ms, idle_timeout=self.idle_timeout, max_expires_at=self.max_expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """What the owner index knows of a session: all but what ordinary writes change."""

    session_id: str
    owner: Owner
    status: Status
    created_at: int
    ttl: int
    idle_timeout: int
    max_expires_at: int
    home_region: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiringSession:
    """What the status/ttl index knows of a session."""

    session_id: str
    owner: Owner
    status: Status
    ttl: int
    home_region: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What must hold for a write; each clause is one named condition.

    Alive at ``now_ms``, owned by ``owner``, at home in ``region``, in one of
    ``statuses``, and at ``version`` where one is expected.
    """

    now_ms: int
    owner: Owner
    region: str
    statuses: frozenset[Status] = ANY_STATUS
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceState:
    state: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    to: Status


Change = ReplaceState | StateOperations | Transition


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWrite:
    """One conditional write. Built once; a retry sends the very same."""

    session_id: str
    guard: Guard
    change: Change
    operation_id: str
    author: Author


def readable(session: Session | None, *, owner: Owner, now_ms: int) -> Session:
    """The session, if it is there for this owner now.

    Raises:
        SessionNotFoundError: absent, expired, or somebody else's.
    """
    if session is None or session.owner != owner or is_over(session.ttl, now_ms):
        raise SessionNotFoundError
    return session


def violation(session: Session | None, guard: Guard, change: Change | None = None) -> StoreError | None:
    """The first clause of guard and change that the session breaks, as the error it means."""
    try:
        current = readable(session, owner=guard.owner, now_ms=guard.now_ms)
    except SessionNotFoundError as error:
        return error
    if current.home_region != guard.region:
        return MisdirectedError(home_region=current.home_region)
    if current.status not in guard.statuses:
        return _status_violation(current.status, change)
    if guard.version not in (None, current.version):
        return VersionConflictError(current_version=current.version)
    if isinstance(change, StateOperations):
        return type_violation(current.state, change)
    return None


def _status_violation(status: Status, change: Change | None) -> StoreError:
    if isinstance(change, Transition):
        return InvalidTransitionError(from_status=status, to=change.to)
    return SessionClosedError(status=status)


def already_done(session: Session, write: SessionWrite) -> bool:
    """Whether a refused write finds its own work: a retry after a lost answer, or a step taken before."""
    if session.last_write == write.operation_id:
        return True
    return (
        isinstance(write.change, Transition)
        and session.status == write.change.to
        and session.owner == write.guard.owner
        and not is_over(session.ttl, write.guard.now_ms)
    )


def closed_until(now_ms: int) -> int:
    """The epoch second until which a session closed now stays readable, if its longest life allows."""
    return seconds(now_ms) + CLOSED_RETENTION


def changed(session: Session, write: SessionWrite) -> Session:
    """What an admitted write makes of the session."""
    after = replace(
        session,
        version=session.version + 1,
        updated_at=write.guard.now_ms,
        updated_by=write.author,
        write_region=write.guard.region,
        last_write=write.operation_id,
    )
    match write.change:
        case ReplaceState(state=state):
            return replace(after, state=state)
        case StateOperations():
            return replace(after, state=applied(session.state, write.change))
        case Transition(to=Status.CLOSED):
            return replace(
                after,
                status=Status.CLOSED,
                ttl=min(closed_until(write.guard.now_ms), session.max_expires_at),
            )
        case Transition(to=to):
            return replace(after, status=to)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slide:
    """Moving a session's window: no new version, never backwards, never on an expired session."""

    session_id: str
    owner: Owner
    region: str
    now_ms: int
    window: Window
    author: Author


def slides(session: Session | None, slide: Slide) -> bool:
    """Whether the slide may still be done (another use may have done it meanwhile)."""
    return (
        session is not None
        and session.owner == slide.owner
        and session.home_region == slide.region
        and not is_over(session.ttl, slide.now_ms)
        and session.status in SLIDING
        and session.slide_after <= seconds(slide.now_ms)
        and session.ttl < slide.window.ttl
    )


def slid(session: Session, slide: Slide) -> Session:
    """What an admitted slide makes of the session."""
    return replace(
        session,
        ttl=slide.window.ttl,
        slide_after=slide.window.slide_after,
        updated_by=slide.author,
        write_region=slide.region,
    )
