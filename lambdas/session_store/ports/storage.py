"""One adapter of each storage port."""

from msgspec import Struct

from session_store.ports.children import CheckpointStorage, ChildStorage, MessageStorage
from session_store.ports.claims import ClaimStorage, ToolCallStorage
from session_store.ports.heartbeat import HeartbeatStorage
from session_store.ports.sessions import KeyedSessionStorage, SessionStorage
from session_store.ports.tasks import KeyedTaskStorage, TaskStorage
from session_store.ports.trail import AuditStorage


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
