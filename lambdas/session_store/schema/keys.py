"""Keys of items and objects."""

import hashlib
from typing import Final

SESSION_SK: Final = "metadata"
SESSION_PK_PREFIX: Final = "session#"
CONTEXT_SK_PREFIX: Final = "context#"
CHECKPOINT_SK_PREFIX: Final = "checkpoint#"
CALL_SK_PREFIX: Final = "call#"
TOOL_SK_PREFIX: Final = "tool#"
TASK_PK_PREFIX: Final = "task#"
TASK_SK: Final = "metadata"
CLAIM_PK_PREFIX: Final = "claim#"
CLAIM_SK: Final = "claim"
HEARTBEAT_PK_PREFIX: Final = "heartbeat#"
HEARTBEAT_SK: Final = "heartbeat"
"""No other item has this sort key: the event source mapping filters heartbeats by it."""
ERASURE_PK_PREFIX: Final = "cleanup#"
ERASURE_SK: Final = "erasure"

QUARANTINE_PREFIX: Final = "quarantine/"
"""Prefix of the object keys of quarantined records."""

SEQUENCE_NUMBER_DIGITS: Final = 40
"""The longest sequence number of a stream (*StreamRecord*: 21 to 40 characters)."""


def escape(identifier: str) -> str:
    """An identifier as one segment of a key: ``#`` separates segments, so it and ``%`` are escaped."""
    return identifier.replace("%", "%25").replace("#", "%23")


def session_pk(session_id: str) -> str:
    return SESSION_PK_PREFIX + escape(session_id)


def task_pk(task_id: str) -> str:
    return TASK_PK_PREFIX + escape(task_id)


def heartbeat_pk(region: str) -> str:
    return HEARTBEAT_PK_PREFIX + region


def payload_prefix(session_id: str) -> str:
    """Prefix of the object keys of a session's payloads."""
    return f"{session_id}/"


def payload_key(session_id: str, sk: str, sha256: str) -> str:
    """Object key of a payload of the child ``sk``: the same text of the same child is the same object."""
    return f"{payload_prefix(session_id)}{hashlib.sha256(sk.encode()).hexdigest()}/{sha256}"


def erasure_pk(session_id: str) -> str:
    """Partition key of the clean-up progress in the audit table, outside the session's trail."""
    return ERASURE_PK_PREFIX + escape(session_id)


def claim_pk(key_hash: str) -> str:
    """Partition key of a claim. It is outside the session, since a key outlives what was created under it."""
    return CLAIM_PK_PREFIX + key_hash


def message_sk(message_id: str) -> str:
    return CONTEXT_SK_PREFIX + escape(message_id)


def checkpoint_prefix(namespace: str) -> str:
    """Prefix of the sort keys of one namespace; the empty namespace has one of its own."""
    return f"{CHECKPOINT_SK_PREFIX}{escape(namespace)}#"


def checkpoint_sk(namespace: str, checkpoint_id: str) -> str:
    return checkpoint_prefix(namespace) + escape(checkpoint_id)


def claim_sk(tool_call_id: str) -> str:
    return CALL_SK_PREFIX + escape(tool_call_id)


def record_sk(started_at: str, tool_call_id: str) -> str:
    """Sort key of a record; ``started_at`` is ISO 8601 with milliseconds, so text order is time order."""
    return f"{TOOL_SK_PREFIX}{started_at}#{escape(tool_call_id)}"


def audit_event_sk(at: str, event_name: str, operation_id: str) -> str:
    """Sort key of an audit event: in time order, unique per operation."""
    return f"{at}#event#{event_name}#{escape(operation_id)}"


def audit_change_sk(at: str, sequence_number: str, stream: str) -> str:
    """Sort key of an audited change: in time order, within a second in stream order.

    It is unique per stream and sequence number.
    """
    return f"{at}#change#{sequence_number.rjust(SEQUENCE_NUMBER_DIGITS, '0')}#{escape(stream)}"
