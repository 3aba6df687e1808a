"""One adapter of each storage port."""

from typing import Protocol

from msgspec import Struct

from session_store.domain.heartbeat import Heartbeat
from session_store.ports.children import CheckpointStorage, ChildStorage, MessageStorage
from session_store.ports.claims import ClaimStorage, ToolCallStorage
from session_store.ports.sessions import KeyedSessionStorage, SessionStorage
from session_store.ports.tasks import KeyedTaskStorage, TaskStorage
from session_store.ports.trail import AuditStorage


class HeartbeatStorage(Protocol):
    def beat(self, heartbeat: Heartbeat) -> None:
        """Keep the heartbeat of its region in the place of the one before."""
        ...


class Storage(Struct, frozen=True, kw_only=True):
    """One adapter of each storage port."""

    sessions: SessionStorage
    keyed_sessions: KeyedSessionStorage
    messages: MessageStorage
    checkpoints: CheckpointStorage
    tool_calls: ToolCallStorage
    claims: ClaimStorage
    tasks: TaskStorage
    keyed_tasks: KeyedTaskStorage
    audit: AuditStorage
    children: ChildStorage
    heartbeats: HeartbeatStorage
