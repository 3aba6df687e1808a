"""Heartbeats in memory."""

from dataclasses import dataclass

from session_store.domain.heartbeat import Heartbeat
from session_store.storage.memory.state import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHeartbeats:
    memory: Memory

    def beat(self, heartbeat: Heartbeat) -> None:
        with self.memory.lock:
            self.memory.heartbeats[heartbeat.region] = heartbeat
