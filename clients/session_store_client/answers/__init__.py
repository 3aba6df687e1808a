"""Answers of the API as typed values, the same objects as in ``docs/openapi.json``.

Times are ISO 8601 in UTC with milliseconds; ``ttl`` is in epoch seconds.
"""

from session_store_client.answers.base import (
    Answer,
    Page,
)
from session_store_client.answers.checkpoints import (
    Checkpoint,
)
from session_store_client.answers.claims import (
    BegunClaim,
    Claim,
)
from session_store_client.answers.messages import (
    AppendedMessages,
    Message,
)
from session_store_client.answers.operators import (
    DeadLetter,
    DeadLetterQueue,
    DeadLetters,
    Drained,
    Health,
    Quarantine,
    QueueName,
    Redriven,
    RedrivenLetter,
    ShardRange,
)
from session_store_client.answers.sessions import (
    AuditEntry,
    Difference,
    ExpiringSession,
    HistoryPage,
    Recovery,
    Session,
    SessionSummary,
    StatusName,
)
from session_store_client.answers.tasks import (
    ClaimedTasks,
    CompletedTask,
    OpenTask,
    Task,
    TaskKindName,
    TaskStatusName,
)
from session_store_client.answers.tool_calls import (
    BegunToolCall,
    FinishedToolCall,
    OpenCall,
    SessionVersion,
    ToolCall,
)

__all__ = [
    "Answer",
    "AppendedMessages",
    "AuditEntry",
    "BegunClaim",
    "BegunToolCall",
    "Checkpoint",
    "Claim",
    "ClaimedTasks",
    "CompletedTask",
    "DeadLetter",
    "DeadLetterQueue",
    "DeadLetters",
    "Difference",
    "Drained",
    "ExpiringSession",
    "FinishedToolCall",
    "Health",
    "HistoryPage",
    "Message",
    "OpenCall",
    "OpenTask",
    "Page",
    "Quarantine",
    "QueueName",
    "Recovery",
    "Redriven",
    "RedrivenLetter",
    "Session",
    "SessionSummary",
    "SessionVersion",
    "ShardRange",
    "StatusName",
    "Task",
    "TaskKindName",
    "TaskStatusName",
    "ToolCall",
]
