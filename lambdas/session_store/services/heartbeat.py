"""The heartbeat: a write every minute in each region, so that replication has something to measure."""

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.heartbeat import Heartbeat
from session_store.domain.session import Author
from session_store.ports import Clock, HeartbeatStorage
from session_store.services.principals import HEARTBEAT


class HeartbeatWriter(Struct, frozen=True, kw_only=True):
    """Writes heartbeats. With a single region they are a canary of the write path."""

    heartbeats: HeartbeatStorage
    clock: Clock
    deadline: Deadline
    region: str

    def beat(self, *, request_id: str) -> None:
        """Write this region's heartbeat.

        Raises:
            ThrottledError: nothing was written.
            OutcomeUnknownError: the response was lost.
        """
        author = Author(principal=HEARTBEAT, request_id=request_id)
        self.heartbeats.beat(Heartbeat(region=self.region, at=self.clock.now_ms(), author=author))
