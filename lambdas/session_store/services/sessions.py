"""What a caller may do with its sessions."""

from collections.abc import Mapping

from msgspec import Struct

from session_store.domain.caller import Caller
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
from session_store.domain.state_operations import StateOperations, checked
from session_store.domain.times import seconds
from session_store.ports import Clock, Ids, SessionStorage
from session_store.schema import session_pk
from session_store.services.access import SessionAccess, check_operator
from session_store.services.audit_events import AuditEvents
from session_store.services.new_sessions import NewSession, SessionSeed, build_session
from session_store.services.state_limits import check_map, check_size


class Sessions(Struct, frozen=True, kw_only=True):
    storage: SessionStorage
    access: SessionAccess
    clock: Clock
    ids: Ids
    events: AuditEvents
    region: str

    def create(self, caller: Caller, new: NewSession) -> Session:
        """Mint a session in ``initializing``.

        Raises:
            PayloadTooLargeError: more than 64 KB of state or of protocol facts.
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
        """The session as it is now, and no older than version ``min_version``.

        Raises:
            MisdirectedError, SessionNotFoundError
        """
        return self.access.slide_quietly(
            caller, self.access.load(caller, session_id, min_version=min_version)
        )

    def list_owned(
        self, caller: Caller, *, status: Status | None, page: PageRequest[OwnedPosition]
    ) -> Page[SessionSummary, OwnedPosition]:
        """The caller's live sessions. An index serves it: the newest may be missing for a moment."""
        return self.storage.page_owned(owner_of(caller), status=status, now_ms=self.clock.now_ms(), page=page)

    def replace_state(
        self, caller: Caller, session_id: str, state: Mapping[str, JsonValue], *, version: int | None
    ) -> Session:
        """The whole state anew, if the session is at ``version`` (None: whatever it is).

        Raises:
            VersionConflictError, SessionClosedError, SessionNotFoundError, PayloadTooLargeError
        """
        check_map(state, path="$")
        return self._write(caller, session_id, ReplaceState(state=state), WRITABLE, version)

    def change_state(
        self, caller: Caller, session_id: str, operations: StateOperations, *, version: int | None = None
    ) -> Session:
        """All the operations as one atomic update.

        Raises:
            InvalidRequestError: a key twice, too many keys, or a value of another type; names the path.
            VersionConflictError, SessionClosedError, SessionNotFoundError, PayloadTooLargeError
        """
        write = self.state_write(caller, session_id, operations, version=version)
        return self.access.slide_quietly(caller, self.storage.write(write))

    def state_write(
        self, caller: Caller, session_id: str, operations: StateOperations, *, version: int | None
    ) -> SessionWrite:
        """The write that ``change_state`` sends.

        Raises:
            InvalidRequestError, PayloadTooLargeError
        """
        check_size([operations.set, operations.remove, operations.increment, operations.append])
        return self._built(caller, session_id, checked(operations), WRITABLE, version)

    def move(self, caller: Caller, session_id: str, to: Status, *, version: int | None = None) -> Session:
        """The session in status ``to``; being there already is success.

        Raises:
            InvalidTransitionError, VersionConflictError, SessionNotFoundError
        """
        return self._write(caller, session_id, Transition(to=to), PREDECESSORS[to], version)

    def touch(self, caller: Caller, session_id: str, *, version: int | None = None) -> Session:
        """A sign of life. Writes only where the window is due to move; never changes the version.

        Raises:
            SessionClosedError: a closed session's end is fixed.
            VersionConflictError, SessionNotFoundError
        """
        session = self.access.load(caller, session_id)
        error = violation(session, self._guard(caller, SLIDING, version))
        if error is not None:
            raise error
        return self.access.slide_if_due(caller, session)

    def delete(self, caller: Caller, session_id: str, *, version: int | None = None) -> None:
        """Gone at once, with an audit event naming the caller; its children are unreadable from now on.

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
        """Sessions of every tenant that end within ``within`` seconds, soonest first.

        Raises:
            ForbiddenError: the caller is no operator.
        """
        check_operator(caller)
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
        write = self._built(caller, session_id, change, statuses, version)
        return self.access.slide_quietly(caller, self.storage.write(write))

    def _built(
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
