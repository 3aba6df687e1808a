"""Writes of a session: the condition for each, and the session after it.

Everything here is pure. The in-memory adapter applies these functions. The DynamoDB adapter turns the guard
into a condition expression and uses them to explain a refusal.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.json_values import JsonValue
from session_store.domain.session import (
    ANY_STATUS,
    WRITABLE,
    Author,
    Owner,
    Session,
    Status,
    check_readable,
)
from session_store.domain.state_operations import (
    StateOperations,
    apply_operations,
    sum_violation,
    type_violation,
)
from session_store.domain.times import DAY_SECONDS, is_expired, seconds
from session_store.errors import (
    InvalidTransitionError,
    MisdirectedError,
    SessionClosedError,
    SessionNotFoundError,
    StoreError,
    VersionConflictError,
)

CLOSED_RETENTION: Final = DAY_SECONDS
"""Seconds that a closed session stays readable, at most."""

PREDECESSORS: Final[dict[Status, frozenset[Status]]] = {
    Status.ACTIVE: frozenset({Status.INITIALIZING}),
    Status.CLOSING: frozenset({Status.INITIALIZING, Status.ACTIVE}),
    Status.CLOSED: frozenset({Status.CLOSING}),
}
"""The statuses from which each status may be entered; no other transition exists."""


class Guard(Struct, frozen=True, kw_only=True):
    """The condition of a write; each clause is one named condition.

    Alive at ``now_ms``, owned by ``owner``, at home in ``region``, in one of ``statuses``, at ``version`` if
    one is expected, and ending by ``ends_by`` (epoch seconds) if the write is for sessions that end soon.
    """

    now_ms: int
    owner: Owner
    region: str
    statuses: frozenset[Status] = ANY_STATUS
    version: int | None = None
    ends_by: int | None = None


class ReplaceState(Struct, frozen=True, kw_only=True):
    state: Mapping[str, JsonValue]


class Transition(Struct, frozen=True, kw_only=True):
    to: Status


ADVANCE_STATE: Final = "$.state"
"""Path of the operations in the body that ends a tool call."""


class Advance(Struct, frozen=True, kw_only=True):
    """The change of a session when a tool call ends: state operations, a transition, or both.

    ``ttl`` (epoch seconds) is the new end of a session that the transition closes.
    """

    operations: StateOperations | None
    to: Status | None
    ttl: int | None = None

    @property
    def statuses(self) -> frozenset[Status]:
        """The statuses that admit it: those before ``to``, and ``to`` itself unless that is closed.

        With state operations, only those that are writable.
        """
        if self.to is None:
            return WRITABLE
        origins = PREDECESSORS[self.to] | ({self.to} - {Status.CLOSED})
        return origins & WRITABLE if self.operations else origins


Change = ReplaceState | StateOperations | Transition | Advance


class SessionWrite(Struct, frozen=True, kw_only=True):
    """One conditional write, built once; every retry sends the same one."""

    session_id: str
    guard: Guard
    change: Change
    operation_id: str
    author: Author


def violation(session: Session | None, guard: Guard, change: Change | None = None) -> StoreError | None:
    """The error of the first clause of guard and change that the session violates; None if all hold."""
    try:
        current = _readable(session, guard)
    except SessionNotFoundError as error:
        return error
    if current.home_region != guard.region:
        return MisdirectedError(home_region=current.home_region)
    if current.status not in guard.statuses:
        return _status_violation(current.status, change)
    if guard.version not in (None, current.version):
        return VersionConflictError(current_version=current.version)
    return _type_violation(current.state, change)


def _type_violation(state: Mapping[str, JsonValue], change: Change | None) -> StoreError | None:
    if isinstance(change, StateOperations):
        return type_violation(state, change)
    if isinstance(change, Advance) and change.operations:
        return type_violation(state, change.operations, at=ADVANCE_STATE)
    return None


def overflow(state: Mapping[str, JsonValue], change: Change) -> StoreError:
    """The error of a change whose sum DynamoDB's numbers cannot hold; names the increment."""
    if isinstance(change, Advance):
        return sum_violation(state, change.operations or StateOperations(), at=ADVANCE_STATE)
    return sum_violation(state, change if isinstance(change, StateOperations) else StateOperations())


def _readable(session: Session | None, guard: Guard) -> Session:
    """The session, if it is readable and ends by the time that the write is for."""
    current = check_readable(session, owner=guard.owner, now_ms=guard.now_ms)
    if guard.ends_by is not None and current.ttl > guard.ends_by:
        raise SessionNotFoundError
    return current


def _status_violation(status: Status, change: Change | None) -> StoreError:
    if isinstance(change, Transition):
        return InvalidTransitionError(from_status=status, to=change.to)
    if isinstance(change, Advance) and change.to and (status in WRITABLE or not change.operations):
        return InvalidTransitionError(from_status=status, to=change.to)
    return SessionClosedError(status=status)


def already_done(session: Session, write: SessionWrite) -> bool:
    """Whether a refused write was done before: by a lost response, or as the same transition."""
    if session.last_write == write.operation_id:
        return True
    return (
        isinstance(write.change, Transition)
        and session.status == write.change.to
        and session.owner == write.guard.owner
        and not is_expired(session.ttl, write.guard.now_ms)
    )


def closed_session_ttl(now_ms: int) -> int:
    """Epoch second until which a session closed now stays readable, if its longest life allows."""
    return seconds(now_ms) + CLOSED_RETENTION


def apply_write(session: Session, write: SessionWrite) -> Session:
    """The session after an admitted write."""
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
            return replace(after, state=apply_operations(session.state, write.change))
        case Transition(to=Status.CLOSED):
            return replace(
                after,
                status=Status.CLOSED,
                ttl=min(closed_session_ttl(write.guard.now_ms), session.max_expires_at),
            )
        case Transition(to=to):
            return replace(after, status=to)
        case Advance(operations=operations, to=step, ttl=ttl):
            return replace(
                after,
                state=(
                    apply_operations(session.state, operations, at=ADVANCE_STATE)
                    if operations
                    else session.state
                ),
                status=step or session.status,
                ttl=ttl or session.ttl,
            )
