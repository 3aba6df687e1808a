"""The way to a session that every use case takes: is it there, is it the caller's, is its end due to move."""

from dataclasses import dataclass

from session_store.domain.caller import Caller
from session_store.domain.identifiers import check_session_id
from session_store.domain.session import WRITABLE, Session, author_of, owner_of, readable
from session_store.domain.slide import Slide
from session_store.errors import MisdirectedError, SessionClosedError, SessionNotFoundError
from session_store.ports import Clock, SessionStorage


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAccess:
    sessions: SessionStorage
    clock: Clock
    region: str

    def found(self, caller: Caller, session_id: str) -> Session:
        """The caller's session, read consistently.

        Raises:
            SessionNotFoundError: absent, expired, or somebody else's.
        """
        found = self.sessions.read(check_session_id(session_id))
        return readable(found, owner=owner_of(caller), now_ms=self.clock.now_ms())

    def read(self, caller: Caller, session_id: str) -> Session:
        """As ``found``, and a use of the session.

        Raises:
            SessionNotFoundError
        """
        return self.used(caller, self.found(caller, session_id))

    def read_at_home(self, caller: Caller, session_id: str) -> Session:
        """As ``read``, before a write of a child, which only the session's home region does.

        Raises:
            MisdirectedError
        """
        session = self.found(caller, session_id)
        if session.home_region != self.region:
            raise MisdirectedError(home_region=session.home_region)
        return self.used(caller, session)

    def read_writable(self, caller: Caller, session_id: str) -> Session:
        """As ``read_at_home``, for a session that admits new children.

        Raises:
            SessionClosedError: closing or closed.
        """
        session = self.read_at_home(caller, session_id)
        if session.status not in WRITABLE:
            raise SessionClosedError(status=session.status)
        return session

    def used(self, caller: Caller, session: Session) -> Session:
        """The session with its window moved, where that is due.

        Raises:
            SessionNotFoundError: it ended between the read and the slide.
        """
        now_ms = self.clock.now_ms()
        if not session.slide_due(now_ms):
            return session
        slide = Slide(
            session_id=session.session_id,
            owner=session.owner,
            region=self.region,
            now_ms=now_ms,
            window=session.window_at(now_ms),
            author=author_of(caller),
        )
        after = self.sessions.slide(slide)
        if after is None:
            raise SessionNotFoundError
        return readable(after, owner=session.owner, now_ms=now_ms)
