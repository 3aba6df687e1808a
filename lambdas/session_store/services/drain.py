"""The drain: an operator moves sessions that end soon to closing."""

from typing import Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.caller import Caller, Permission
from session_store.domain.session import WRITABLE, ExpiringSession, Status, author_of
from session_store.domain.session_write import PREDECESSORS, Guard, SessionWrite, Transition
from session_store.domain.times import seconds
from session_store.errors import InvalidTransitionError, SessionNotFoundError
from session_store.ports import Clock, Ids, SessionStorage
from session_store.services.expiring_sessions import pages_expiring
from session_store.services.home import Home
from session_store.services.permissions import check_permission

MAX_SESSIONS: Final = 500
"""Sessions that one call tries to move."""

PAGE: Final = 100
RESERVE: Final = 9.0
"""Seconds of the deadline in which no further session is begun: as long as one write may take."""


class DrainResult(Struct, frozen=True, kw_only=True):
    """``skipped``: used, moved or ended meanwhile, or at home in another region. ``more``: call again."""

    moved: int
    skipped: int
    more: bool


class Drain(Struct, frozen=True, kw_only=True):
    sessions: SessionStorage
    clock: Clock
    ids: Ids
    deadline: Deadline
    home: Home

    def run(self, caller: Caller, *, within: int) -> DrainResult:
        """Move sessions of every tenant that end within ``within`` seconds to closing.

        Moved sessions leave the list, so another call continues with the rest.

        Raises:
            ForbiddenError: the caller is not an operator.
        """
        check_permission(caller, Permission.OPS)
        now_ms = self.clock.now_ms()
        until = seconds(now_ms) + within
        moved = skipped = tried = 0
        for page in pages_expiring(self.sessions, WRITABLE, now_ms=now_ms, until=until, size=PAGE):
            for session in page:
                if not self.home.is_home(session.home_region):
                    skipped += 1
                    continue
                if tried == MAX_SESSIONS or self.deadline.remaining() < RESERVE:
                    return DrainResult(moved=moved, skipped=skipped, more=True)
                tried += 1
                if self._move(caller, session, now_ms=now_ms, until=until):
                    moved += 1
                else:
                    skipped += 1
        return DrainResult(moved=moved, skipped=skipped, more=False)

    def _move(self, caller: Caller, session: ExpiringSession, *, now_ms: int, until: int) -> bool:
        write = SessionWrite(
            session_id=session.session_id,
            guard=Guard(
                now_ms=now_ms,
                owner=session.owner,
                region=self.home.region,
                statuses=PREDECESSORS[Status.CLOSING],
                ends_by=until,
            ),
            change=Transition(to=Status.CLOSING),
            operation_id=self.ids.operation_id(),
            author=author_of(caller),
        )
        try:
            self.sessions.write(write)
        except (SessionNotFoundError, InvalidTransitionError):
            # The index was out of date: the session has been used, moved or has ended since.
            return False
        return True
