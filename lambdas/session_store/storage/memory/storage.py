"""The storage ports in memory, for tests and trial runs.

Each call is as atomic as a DynamoDB request, and every refusal comes from the domain functions that
explain a refusal of DynamoDB. One contract suite runs against both.
"""

from session_store.ports import Storage
from session_store.storage.memory.audit import MemoryAudit
from session_store.storage.memory.checkpoints import MemoryCheckpoints
from session_store.storage.memory.children import MemoryChildren
from session_store.storage.memory.claims import MemoryClaims, MemoryToolCalls
from session_store.storage.memory.heartbeats import MemoryHeartbeats
from session_store.storage.memory.keyed_sessions import MemoryKeyedSessions
from session_store.storage.memory.messages import MemoryMessages
from session_store.storage.memory.sessions import MemorySessions
from session_store.storage.memory.state import Memory
from session_store.storage.memory.tasks import MemoryKeyedTasks, MemoryTasks


def memory_storage() -> Storage:
    """An empty storage: one adapter of each port, all on one memory."""
    memory = Memory()
    sessions = MemorySessions(memory=memory)
    tasks = MemoryTasks(memory=memory)
    return Storage(
        sessions=sessions,
        keyed_sessions=MemoryKeyedSessions(memory=memory, sessions=sessions),
        messages=MemoryMessages(memory=memory),
        checkpoints=MemoryCheckpoints(memory=memory),
        tool_calls=MemoryToolCalls(memory=memory, sessions=sessions),
        claims=MemoryClaims(memory=memory),
        tasks=tasks,
        keyed_tasks=MemoryKeyedTasks(memory=memory, tasks=tasks),
        audit=MemoryAudit(memory=memory),
        children=MemoryChildren(memory=memory),
        heartbeats=MemoryHeartbeats(memory=memory),
    )
