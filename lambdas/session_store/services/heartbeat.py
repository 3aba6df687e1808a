"""A write each minute in each region: replication is measured only while something is written."""

from typing import Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.heartbeat import Heartbeat
from session_store.domain.session import Author
from session_store.ports import Clock, HeartbeatStorage

PRINCIPAL: Final = "session-store heartbeat"


class HeartbeatWriter(Struct, frozen=True, kw_only=True):
    """Where there is one region alone it is the canary of the write path: it fails before callers tell."""

    heartbeats: HeartbeatStorage
    clock: Clock
    deadline: Deadline
    region: str

    def beat(self, *, request_id: str) -> None:
        """Write this region's sign of life.

        Raises:
            ThrottledError, OutcomeUnknownError: the table took no write, or did not say so.
        """
        author = Author(principal=PRINCIPAL, request_id=request_id)
        self.heartbeats.beat(Heartbeat(region=self.region, at=self.clock.now_ms(), author=author))
