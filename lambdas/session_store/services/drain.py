"""Sessions that are about to end, moved to closing by an operator."""

from typing import Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.caller import Caller
from session_store.domain.session import WRITABLE, ExpiringSession, Status, author_of
from session_store.domain.session_write import PREDECESSORS, Guard, SessionWrite, Transition
from session_store.domain.times import seconds
from session_store.errors import InvalidTransitionError, SessionNotFoundError
from session_store.ports import Clock, Ids, SessionStorage
from session_store.services.access import check_operator
from session_store.services.ending import pages_ending

MOST: Final = 500
"""Sessions that one call takes up."""

PAGE: Final = 100
RESERVE: Final = 9.0
"""Seconds of the deadline in which no further session is begun: as long as one write may take."""


class DrainResult(Struct, frozen=True, kw_only=True):
    """``skipped``: used or ended meanwhile, or at home elsewhere. ``more``: call again."""

    moved: int
    skipped: int
    more: bool


class Drain(Struct, frozen=True, kw_only=True):
    sessions: SessionStorage
    clock: Clock
    ids: Ids
    deadline: Deadline
    region: str

    def run(self, caller: Caller, *, within: int) -> DrainResult:
        """Close to new work what ends within ``within`` seconds, whoever owns it.

        What is moved is in no later call's way, so calling again goes on.

        Raises:
            ForbiddenError: the caller is no operator.
        """
        check_operator(caller)
        now_ms = self.clock.now_ms()
        until = seconds(now_ms) + within
        moved = skipped = taken = 0
        for page in pages_ending(self.sessions, WRITABLE, now_ms=now_ms, until=until, size=PAGE):
            for session in page:
                if session.home_region != self.region:
                    skipped += 1
                    continue
                if taken == MOST or self.deadline.remaining() < RESERVE:
                    return DrainResult(moved=moved, skipped=skipped, more=True)
                taken += 1
                if self._moved(caller, session, now_ms=now_ms, until=until):
                    moved += 1
                else:
                    skipped += 1
        return DrainResult(moved=moved, skipped=skipped, more=False)

    def _moved(self, caller: Caller, session: ExpiringSession, *, now_ms: int, until: int) -> bool:
        write = SessionWrite(
            session_id=session.session_id,
            guard=Guard(
                now_ms=now_ms,
                owner=session.owner,
                region=self.region,
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
            # What the index showed is over: the session was used, moved or ended since.
            return False
        return True
