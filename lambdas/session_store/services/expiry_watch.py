"""Notices of sessions that are about to end."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.expiry_mark import ExpiryMark
from session_store.domain.notice import MAX_NOTICES, session_expiring_soon
from session_store.domain.session import SLIDING, Author, ExpiringSession
from session_store.domain.times import seconds
from session_store.ports import Clock, EventBus, SessionStorage
from session_store.services.expiring_sessions import pages_expiring
from session_store.services.home import Home
from session_store.services.principals import EXPIRY_WATCH

PAGE: Final = 500
RESERVE: Final = 15.0
"""Seconds of the deadline in which nothing more is begun; the next run continues."""


class WatchResult(Struct, frozen=True, kw_only=True):
    """``warned``: sessions announced and marked. ``more``: the run ended out of time."""

    warned: int
    more: bool


class ExpiryWatch(Struct, frozen=True, kw_only=True):
    sessions: SessionStorage
    bus: EventBus
    clock: Clock
    deadline: Deadline
    home: Home
    within: int
    """How many seconds before its end a session is announced."""

    def run(self, *, request_id: str) -> WatchResult:
        """Announce each open session at home here that ends soon, once per expiration.

        Notices are sent before the sessions are marked: a crash in between sends them again, with the
        same event ids.

        Raises:
            UndeliveredError: sessions whose notices were not sent stay unmarked, for the next run.
        """
        author = Author(principal=EXPIRY_WATCH, request_id=request_id)
        now_ms = self.clock.now_ms()
        warned = 0
        until = seconds(now_ms) + self.within
        for page in pages_expiring(self.sessions, SLIDING, now_ms=now_ms, until=until, size=PAGE):
            unwarned = [session for session in page if self._is_unwarned(session)]
            for start in range(0, len(unwarned), MAX_NOTICES):
                if self.deadline.remaining() < RESERVE:
                    return WatchResult(warned=warned, more=True)
                warned += self._warn(unwarned[start : start + MAX_NOTICES], author, now_ms)
            if self.deadline.remaining() < RESERVE:
                return WatchResult(warned=warned, more=True)
        return WatchResult(warned=warned, more=False)

    def _is_unwarned(self, session: ExpiringSession) -> bool:
        return self.home.is_home(session.home_region) and session.warned_ttl != session.ttl

    def _warn(self, sessions: Sequence[ExpiringSession], author: Author, now_ms: int) -> int:
        self.bus.emit([session_expiring_soon(session, at=now_ms) for session in sessions])
        marks = (
            ExpiryMark(session_id=session.session_id, ttl=session.ttl, region=self.home.region, author=author)
            for session in sessions
        )
        return sum(self.sessions.mark_warned(mark) for mark in marks)
