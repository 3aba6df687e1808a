"""Heartbeats: one item per region, written every minute."""

from typing import Protocol

from session_store.domain.heartbeat import Heartbeat


class HeartbeatStorage(Protocol):
    def beat(self, heartbeat: Heartbeat) -> None:
        """Store the heartbeat in place of its region's previous one."""
        ...
