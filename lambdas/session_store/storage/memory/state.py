"""The state that the in-memory adapters share."""

import threading
from dataclasses import dataclass, field

from session_store.domain.audit_event import AuditChange, AuditEvent
from session_store.domain.checkpoint import Checkpoint
from session_store.domain.erasure import Erasure
from session_store.domain.free_claim import FreeClaim
from session_store.domain.heartbeat import Heartbeat
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.message import Message
from session_store.domain.session import Session
from session_store.domain.task import Task
from session_store.domain.tool_call import Claim, ToolCallRecord


@dataclass(kw_only=True)
class Memory:
    """Everything that is stored, and the lock that makes each call as atomic as a DynamoDB request."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    sessions: dict[str, Session] = field(default_factory=dict)
    messages: dict[str, dict[str, Message]] = field(default_factory=dict)
    checkpoints: dict[str, dict[str, Checkpoint]] = field(default_factory=dict)
    """By session, then by sort key."""
    keys: dict[str, KeyClaim] = field(default_factory=dict)
    claims: dict[tuple[str, str], Claim] = field(default_factory=dict)
    free_claims: dict[str, FreeClaim] = field(default_factory=dict)
    records: dict[str, dict[tuple[str, str], ToolCallRecord]] = field(default_factory=dict)
    events: list[AuditEvent] = field(default_factory=list)
    changes: dict[tuple[str, str], AuditChange] = field(default_factory=dict)
    """By stream and sequence number."""
    erasures: dict[str, Erasure] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    heartbeats: dict[str, Heartbeat] = field(default_factory=dict)
    """By region."""
