"""The ports: what use cases need from the outside.

Each storage port has two adapters, DynamoDB and memory, and one contract suite that both pass. Every method
may raise ThrottledError (nothing was written, to be retried) and every write OutcomeUnknownError (the
response was lost).
"""

from session_store.ports.children import (
    CheckpointStorage,
    ChildStorage,
    MessageStorage,
    PayloadStorage,
)
from session_store.ports.claims import (
    ClaimStorage,
    Refused,
    ToolCallStorage,
)
from session_store.ports.cleanup import (
    CleanupQueue,
    EventBus,
    Revoker,
    SecretStorage,
)
from session_store.ports.heartbeat import (
    HeartbeatStorage,
)
from session_store.ports.redrive import (
    DeadLetterQueue,
    StreamHistory,
    StreamReplay,
)
from session_store.ports.sessions import (
    KeyedSessionStorage,
    SessionStorage,
)
from session_store.ports.storage import (
    Storage,
)
from session_store.ports.system import (
    Clock,
    Ids,
)
from session_store.ports.tasks import (
    KeyedTaskStorage,
    TaskStorage,
)
from session_store.ports.trail import (
    AuditStorage,
    Quarantine,
    QuarantineCount,
)

__all__ = [
    "AuditStorage",
    "CheckpointStorage",
    "ChildStorage",
    "ClaimStorage",
    "CleanupQueue",
    "Clock",
    "DeadLetterQueue",
    "EventBus",
    "HeartbeatStorage",
    "Ids",
    "KeyedSessionStorage",
    "KeyedTaskStorage",
    "MessageStorage",
    "PayloadStorage",
    "Quarantine",
    "QuarantineCount",
    "Refused",
    "Revoker",
    "SecretStorage",
    "SessionStorage",
    "Storage",
    "StreamHistory",
    "StreamReplay",
    "TaskStorage",
    "ToolCallStorage",
]
