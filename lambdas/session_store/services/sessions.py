"""The sessions of a caller: create, read, list, change, move, touch, delete."""

from collections.abc import Mapping

from msgspec import Struct

from session_store.domain.caller import Caller, Permission
from session_store.domain.identifiers import check_session_id
from session_store.domain.json_values import JsonValue
from session_store.domain.page import ExpiringPosition, OwnedPosition, Page, PageRequest
from session_store.domain.session import (
    ANY_STATUS,
    SLIDING,
    WRITABLE,
    ExpiringSession,
    Session,
    SessionSummary,
    Status,
    author_of,
    owner_of,
)
from session_store.domain.session_write import (
    PREDECESSORS,
    Change,
    Guard,
    ReplaceState,
    SessionWrite,
    Transition,
    violation,
)
from session_store.domain.state_operations import StateOperations, check_operations
from session_store.domain.times import seconds
from session_store.ports import Clock, Ids, SessionStorage
from session_store.schema import session_pk
from session_store.services.access import SessionAccess
from session_store.services.audit_events import AuditEvents
from session_store.services.new_sessions import NewSession, SessionSeed, build_session
from session_store.services.permissions import check_permission
from session_store.services.state_limits import check_map, check_operations_size


class Sessions(Struct, frozen=True, kw_only=True):
    storage: SessionStorage
    access: SessionAccess
    clock: Clock
    ids: Ids
    events: AuditEvents
    region: str

    def create(self, caller: Caller, new: NewSession) -> Session:
        """Create a session in status ``initializing``.

        Raises:
            PayloadTooLargeError: more than 64 KB of state or of ``protocol``.
            InvalidRequestError: an empty key, or a malformed credential reference.
        """
        session = build_session(caller, new, self.new_seed())
        self.storage.create(session)
        return session

    def new_seed(self) -> SessionSeed:
        return SessionSeed(
            session_id=self.ids.session_id(self.region),
            operation_id=self.ids.operation_id(),
            at=self.clock.now_ms(),
            region=self.region,
        )

    def get(self, caller: Caller, session_id: str, *, min_version: int = 0) -> Session:
        """Read the session, at version ``min_version`` or later.

        Raises:
            MisdirectedError, SessionNotFoundError
        """
        return self.access.slide_quietly(
            caller, self.access.load(caller, session_id, min_version=min_version)
        )

    def list_owned(
        self, caller: Caller, *, status: Status | None, page: PageRequest[OwnedPosition]
    ) -> Page[SessionSummary, OwnedPosition]:
        """List the caller's live sessions. Eventually consistent: the newest may be missing for a moment."""
        return self.storage.page_owned(owner_of(caller), status=status, now_ms=self.clock.now_ms(), page=page)

    def replace_state(
        self, caller: Caller, session_id: str, state: Mapping[str, JsonValue], *, version: int | None
    ) -> Session:
        """Replace the whole state, if the session is at ``version`` (None: at any version).

        Raises:
            VersionConflictError, SessionClosedError, SessionNotFoundError, PayloadTooLargeError
        """
        check_map(state, path="$")
        return self._write(caller, session_id, ReplaceState(state=state), WRITABLE, version)

    def change_state(
        self, caller: Caller, session_id: str, operations: StateOperations, *, version: int | None = None
    ) -> Session:
        """Apply all operations in one atomic update.

        Raises:
            InvalidRequestError: a key twice, too many keys, or a value of another type; names the path.
            VersionConflictError, SessionClosedError, SessionNotFoundError, PayloadTooLargeError
        """
        write = self.state_write(caller, session_id, operations, version=version)
        return self.access.slide_quietly(caller, self.storage.write(write))

    def state_write(
        self, caller: Caller, session_id: str, operations: StateOperations, *, version: int | None
    ) -> SessionWrite:
        """Build the write that ``change_state`` sends.

        Raises:
            InvalidRequestError, PayloadTooLargeError
        """
        check_operations(operations)
        check_operations_size(operations)
        return self._build_write(caller, session_id, operations, WRITABLE, version)

    def move(self, caller: Caller, session_id: str, to: Status, *, version: int | None = None) -> Session:
        """Move the session to status ``to``. If it already has that status, this succeeds.

        Raises:
            InvalidTransitionError, VersionConflictError, SessionNotFoundError
        """
        return self._write(caller, session_id, Transition(to=to), PREDECESSORS[to], version)

    def touch(self, caller: Caller, session_id: str, *, version: int | None = None) -> Session:
        """Keep the session alive. Writes only where the slide is due, and never changes the version.

        Raises:
            SessionClosedError: the expiration of a closed session is fixed.
            VersionConflictError, SessionNotFoundError
        """
        session = self.access.load(caller, session_id)
        error = violation(session, self._guard(caller, SLIDING, version))
        if error is not None:
            raise error
        return self.access.slide_if_due(caller, session)

    def delete(self, caller: Caller, session_id: str, *, version: int | None = None) -> None:
        """Delete the session, with an audit event naming the caller. Its child items are unreadable at once.

        Raises:
            VersionConflictError, SessionNotFoundError
        """
        guard = self._guard(caller, ANY_STATUS, version)
        pk = session_pk(check_session_id(session_id))
        event = self.events.of(caller, "SessionDeleted", pk=pk, at=guard.now_ms)
        self.storage.delete(session_id, guard, event)

    def list_expiring(
        self, caller: Caller, *, within: int, status: Status, page: PageRequest[ExpiringPosition]
    ) -> Page[ExpiringSession, ExpiringPosition]:
        """List sessions of every tenant that end within ``within`` seconds, soonest first.

        Raises:
            ForbiddenError: the caller is not an operator.
        """
        check_permission(caller, Permission.OPS)
        now_ms = self.clock.now_ms()
        return self.storage.page_expiring(status, now_ms=now_ms, until=seconds(now_ms) + within, page=page)

    def _write(
        self,
        caller: Caller,
        session_id: str,
        change: Change,
        statuses: frozenset[Status],
        version: int | None,
    ) -> Session:
        write = self._build_write(caller, session_id, change, statuses, version)
        return self.access.slide_quietly(caller, self.storage.write(write))

    def _build_write(
        self,
        caller: Caller,
        session_id: str,
        change: Change,
        statuses: frozenset[Status],
        version: int | None,
    ) -> SessionWrite:
        return SessionWrite(
            session_id=check_session_id(session_id),
            guard=self._guard(caller, statuses, version),
            change=change,
            operation_id=self.ids.operation_id(),
            author=author_of(caller),
        )

    def _guard(self, caller: Caller, statuses: frozenset[Status], version: int | None) -> Guard:
        return Guard(
            now_ms=self.clock.now_ms(),
            owner=owner_of(caller),
            region=self.region,
            statuses=statuses,
            version=version,
        )
