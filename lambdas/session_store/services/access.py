"""The way to a session that every use case takes: is it there, is it the caller's, is its end due to move.

Or, past the owners of sessions: is the caller an operator.
"""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller, Permission
from session_store.domain.identifiers import check_session_id
from session_store.domain.session import SLIDING, Session, author_of, check_readable, check_writable, owner_of
from session_store.domain.session_write import Guard
from session_store.domain.slide import Slide
from session_store.domain.window import Window
from session_store.errors import (
    ForbiddenError,
    MisdirectedError,
    OutcomeUnknownError,
    SessionNotFoundError,
    ThrottledError,
)
from session_store.ports import Clock, SessionStorage


class SessionAccess(Struct, frozen=True, kw_only=True):
    sessions: SessionStorage
    clock: Clock
    region: str

    def load(self, caller: Caller, session_id: str, *, min_version: int = 0) -> Session:
        """The caller's session, read consistently in this region.

        Raises:
            SessionNotFoundError, MisdirectedError: as ``authorize``.
        """
        return self.authorize(
            caller, self.sessions.read(check_session_id(session_id)), min_version=min_version
        )

    def load_at_home(self, caller: Caller, session_id: str) -> Session:
        """As ``load``, before a write of a child, which only the session's home region does.

        Raises:
            MisdirectedError
        """
        return self.authorize_at_home(caller, self.sessions.read(check_session_id(session_id)))

    def load_writable(self, caller: Caller, session_id: str) -> Session:
        """As ``load_at_home``, where it takes anything new.

        Raises:
            MisdirectedError, SessionClosedError, SessionNotFoundError
        """
        return check_writable(self.load_at_home(caller, session_id))

    def authorize(self, caller: Caller, there: Session | None, *, min_version: int = 0) -> Session:
        """What was read, if it is the caller's and has not ended.

        ``min_version`` is a version that the caller has seen; away from the session's
        home an older copy is no answer.

        Raises:
            SessionNotFoundError: absent, expired, or somebody else's.
            MisdirectedError: this region's copy is older than ``min_version``.
        """
        session = check_readable(there, owner=owner_of(caller), now_ms=self.clock.now_ms())
        if session.version < min_version and session.home_region != self.region:
            raise MisdirectedError(home_region=session.home_region)
        return session

    def authorize_at_home(self, caller: Caller, there: Session | None) -> Session:
        """As ``authorize``, before a write of a child.

        Raises:
            MisdirectedError, SessionNotFoundError
        """
        session = self.authorize(caller, there)
        if session.home_region != self.region:
            raise MisdirectedError(home_region=session.home_region)
        return session

    def slide_quietly(self, caller: Caller, session: Session) -> Session:
        """The session after a call on it that succeeded: its window is moved where that is due.

        The call has succeeded whatever becomes of the slide, and the next one tries again.
        """
        try:
            return self.slide_if_due(caller, session)
        except (OutcomeUnknownError, SessionNotFoundError, ThrottledError):
            return session

    def extend_until(self, caller: Caller, session: Session, *, until: int) -> Session:
        """The session, which lives until ``until`` (epoch seconds) or as long as it can at all.

        Raises:
            SessionNotFoundError: it ended meanwhile.
        """
        now_ms = self.clock.now_ms()
        needed = min(until, session.max_expires_at)
        if session.status not in SLIDING or session.ttl >= needed:
            return session
        window = session.window_at(now_ms)
        slide = self._slide(caller, session, replace(window, ttl=max(window.ttl, needed)), now_ms)
        return self._after(replace(slide, due=False), session)

    def slide_if_due(self, caller: Caller, session: Session) -> Session:
        """The session with its window moved, where that is due. Only its home region moves it.

        Raises:
            SessionNotFoundError: it ended meanwhile.
        """
        now_ms = self.clock.now_ms()
        if session.home_region != self.region or not session.slide_due(now_ms):
            return session
        return self._after(self._slide(caller, session, session.window_at(now_ms), now_ms), session)

    def _slide(self, caller: Caller, session: Session, window: Window, now_ms: int) -> Slide:
        guard = Guard(now_ms=now_ms, owner=session.owner, region=self.region, statuses=SLIDING)
        return Slide(session_id=session.session_id, guard=guard, window=window, author=author_of(caller))

    def _after(self, slide: Slide, session: Session) -> Session:
        return check_readable(self.sessions.slide(slide), owner=session.owner, now_ms=slide.guard.now_ms)


def check_operator(caller: Caller) -> None:
    """Raises:
    ForbiddenError: the caller is no operator.
    """
    if Permission.OPS not in caller.permissions:
        raise ForbiddenError
