"""How use cases reach a session: read it, check that the caller owns it, slide its expiration."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.identifiers import check_session_id
from session_store.domain.session import SLIDING, Session, author_of, check_readable, check_writable, owner_of
from session_store.domain.session_write import Guard
from session_store.domain.slide import Slide
from session_store.domain.window import Window, with_reserve
from session_store.errors import OutcomeUnknownError, SessionNotFoundError, ThrottledError
from session_store.ports import Clock, SessionStorage
from session_store.services.home import Home


class SessionAccess(Struct, frozen=True, kw_only=True):
    sessions: SessionStorage
    clock: Clock
    home: Home

    def load(self, caller: Caller, session_id: str, *, min_version: int = 0) -> Session:
        """Read the caller's session consistently in this region.

        Raises:
            SessionNotFoundError, MisdirectedError: as ``authorize``.
        """
        return self.authorize(
            caller, self.sessions.read(check_session_id(session_id)), min_version=min_version
        )

    def load_at_home(self, caller: Caller, session_id: str) -> Session:
        """``load`` before a write of a child item, which only the session's home region makes.

        Raises:
            MisdirectedError, SessionNotFoundError
        """
        return self.authorize_at_home(caller, self.sessions.read(check_session_id(session_id)))

    def load_writable(self, caller: Caller, session_id: str) -> Session:
        """``load_at_home`` for a session that accepts new child items.

        Raises:
            MisdirectedError, SessionClosedError, SessionNotFoundError
        """
        return check_writable(self.load_at_home(caller, session_id))

    def authorize(self, caller: Caller, stored: Session | None, *, min_version: int = 0) -> Session:
        """Return the session that was read, if it is the caller's and has not ended.

        ``min_version``: the lowest version the caller accepts. Away from the session's home region an
        older copy is refused.

        Raises:
            SessionNotFoundError: absent, expired, or another owner's.
            MisdirectedError: this region's copy is older than ``min_version``.
        """
        session = check_readable(stored, owner=owner_of(caller), now_ms=self.clock.now_ms())
        if session.version < min_version:
            self.home.check(session.home_region)
        return session

    def authorize_at_home(self, caller: Caller, stored: Session | None) -> Session:
        """``authorize`` before a write of a child item.

        Raises:
            MisdirectedError, SessionNotFoundError
        """
        session = self.authorize(caller, stored)
        self.home.check(session.home_region)
        return session

    def slide_quietly(self, caller: Caller, session: Session) -> Session:
        """Slide the session's expiration after a call on it that succeeded, where that is due.

        A slide that fails does not fail the call; the next call tries again.
        """
        try:
            return self.slide_if_due(caller, session)
        except (OutcomeUnknownError, SessionNotFoundError, ThrottledError):
            return session

    def extend_until(self, caller: Caller, session: Session, *, until: int) -> Session:
        """Keep the session alive until ``until`` (epoch seconds), or as long as its lifetime allows.

        An extension goes a tenth further than needed, so that a burst of them moves the end once.

        Raises:
            SessionNotFoundError: it has ended since it was read.
        """
        now_ms = self.clock.now_ms()
        needed = min(until, session.max_expires_at)
        if session.status not in SLIDING or session.ttl >= needed:
            return session
        window = session.window_at(now_ms)
        ttl = max(window.ttl, min(with_reserve(until, now_ms), session.max_expires_at))
        slide = self._slide(caller, session, replace(window, ttl=ttl), now_ms)
        return self._apply(replace(slide, due=False), session)

    def slide_if_due(self, caller: Caller, session: Session) -> Session:
        """Slide the session's expiration where that is due. Only its home region does.

        Raises:
            SessionNotFoundError: it has ended since it was read.
        """
        now_ms = self.clock.now_ms()
        if not self.home.is_home(session.home_region) or not session.slide_due(now_ms):
            return session
        return self._apply(self._slide(caller, session, session.window_at(now_ms), now_ms), session)

    def _slide(self, caller: Caller, session: Session, window: Window, now_ms: int) -> Slide:
        guard = Guard(now_ms=now_ms, owner=session.owner, region=self.home.region, statuses=SLIDING)
        return Slide(
            session_id=session.session_id,
            guard=guard,
            window=window,
            author=author_of(caller),
            ends_at=session.ttl,
        )

    def _apply(self, slide: Slide, session: Session) -> Session:
        return check_readable(self.sessions.slide(slide), owner=session.owner, now_ms=slide.guard.now_ms)
