"""The number of living sessions."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.session import Status
from session_store.ports import Clock, SessionStorage

RESERVE: Final = 15.0
"""Seconds of the deadline in which reading stops, so that the counts can still be published."""


class SessionCounts(Struct, frozen=True, kw_only=True):
    """``living``: the count of each status that was read to its end. ``complete``: whether all were."""

    living: Mapping[Status, int]
    complete: bool


class Census(Struct, frozen=True, kw_only=True):
    """Counts the sessions at home in ``region``, so that the counts of all regions add up."""

    sessions: SessionStorage
    clock: Clock
    deadline: Deadline
    region: str

    def run(self) -> SessionCounts:
        """Count living sessions by status.

        A partial count would look like a drop, so a status is counted to its end or left out. Closed
        sessions can be the most numerous and matter least, so they are counted last.
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
