"""How many living sessions there are."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.session import Status
from session_store.ports import Clock, SessionStorage

RESERVE: Final = 15.0
"""Seconds of the deadline in which nothing more is read: what is counted has still to be told."""


class SessionCounts(Struct, frozen=True, kw_only=True):
    """``living``: of each status that was counted to its end; those that time ran out for are not in it."""

    living: Mapping[Status, int]
    complete: bool


class Census(Struct, frozen=True, kw_only=True):
    """Counts the sessions at home in ``region``: what all regions count adds up, each session once."""

    sessions: SessionStorage
    clock: Clock
    deadline: Deadline
    region: str

    def run(self) -> SessionCounts:
        """Half a count would look like a loss, so there is either all of a status or nothing.

        Open sessions are counted first: of closed ones there may be most, and they matter least.
        """
        now_ms = self.clock.now_ms()
        living: dict[Status, int] = {}
        for status in Status:
            counted = 0
            for part in self.sessions.count_living(status, region=self.region, now_ms=now_ms):
                counted += part
                if self.deadline.remaining() < RESERVE:
                    return SessionCounts(living=living, complete=False)
            living[status] = counted
        return SessionCounts(living=living, complete=True)
