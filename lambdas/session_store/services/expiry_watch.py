"""Word of sessions that are about to end."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.expiry_mark import ExpiryMark
from session_store.domain.notice import MAX_NOTICES, session_expiring_soon
from session_store.domain.session import SLIDING, Author, ExpiringSession
from session_store.domain.times import seconds
from session_store.ports import Clock, EventBus, SessionStorage
from session_store.services.ending import pages_ending
from session_store.services.tasks.overdue import PRINCIPAL

PAGE: Final = 500
RESERVE: Final = 15.0
"""Seconds of the deadline in which nothing more is begun; the next run finds what is left."""


class WatchResult(Struct, frozen=True, kw_only=True):
    """``warned`` were told and marked. ``more``: time ran out."""

    warned: int
    more: bool


class ExpiryWatch(Struct, frozen=True, kw_only=True):
    sessions: SessionStorage
    bus: EventBus
    clock: Clock
    deadline: Deadline
    region: str
    within: int
    """Seconds before its end that a session is told of."""

    def run(self, *, request_id: str) -> WatchResult:
        """Tell of each open session at home here that ends soon, once for each end it has.

        Told first and marked then: a crash between the two tells again, with the same event id.

        Raises:
            UndeliveredError: what was not told stays unmarked, for the next run.
        """
        author = Author(principal=PRINCIPAL, request_id=request_id)
        now_ms = self.clock.now_ms()
        warned = 0
        until = seconds(now_ms) + self.within
        for page in pages_ending(self.sessions, SLIDING, now_ms=now_ms, until=until, size=PAGE):
            fresh = [session for session in page if self._is_to_be_told(session)]
            for start in range(0, len(fresh), MAX_NOTICES):
                if self.deadline.remaining() < RESERVE:
                    return WatchResult(warned=warned, more=True)
                warned += self._tell(fresh[start : start + MAX_NOTICES], author, now_ms)
            if self.deadline.remaining() < RESERVE:
                return WatchResult(warned=warned, more=True)
        return WatchResult(warned=warned, more=False)

    def _is_to_be_told(self, session: ExpiringSession) -> bool:
        return session.home_region == self.region and session.warned_ttl != session.ttl

    def _tell(self, sessions: Sequence[ExpiringSession], author: Author, now_ms: int) -> int:
        self.bus.emit([session_expiring_soon(session, at=now_ms) for session in sessions])
        marks = (
            ExpiryMark(session_id=session.session_id, ttl=session.ttl, region=self.region, author=author)
            for session in sessions
        )
        return sum(self.sessions.mark_warned(mark) for mark in marks)
