"""The attributes of items, and the kinds of items."""

from enum import StrEnum
from typing import Final


class Attribute(StrEnum):
    """An attribute of an item, of any kind."""

    PK = "pk"
    SK = "sk"
    TTL = "ttl"
    """Epoch *seconds* after which the item is expired; the tables' TTL attribute."""

    ENTITY = "entity"
    HOME_REGION = "homeRegion"
    WRITE_REGION = "writeRegion"
    UPDATED_BY = "updatedBy"

    # session metadata
    STATUS = "status"
    SHARD = "shard"
    VERSION = "version"
    TENANT = "tenant"
    SUBJECT = "subject"
    CREATED_AT = "createdAt"
    UPDATED_AT = "updatedAt"
    SLIDE_AFTER = "slideAfter"
    IDLE_TIMEOUT = "idleTimeout"
    MAX_EXPIRES_AT = "maxExpiresAt"
    STATE = "state"
    PROTOCOL = "protocol"
    CREDENTIAL_REFS = "credentialRefs"
    LAST_WRITE = "lastWrite"
    WARNED_TTL = "warnedTtl"
    """The ``ttl`` for which ``SessionExpiringSoon`` was sent."""

    # context messages
    CONTENT = "content"
    CONTENT_HASH = "contentHash"
    APPENDED_AT = "appendedAt"

    # checkpoints
    NAMESPACE = "namespace"
    PARENT_ID = "parentId"
    DATA = "data"
    TAKEN_AT = "takenAt"

    # tool call claims and records
    TOOL_CALL_ID = "toolCallId"
    TOOL_NAME = "toolName"
    CLAIM_STATUS = "claimStatus"
    INPUT = "input"
    OUTPUT = "output"
    ERROR = "error"
    INPUT_HASH = "inputHash"
    OUTCOME_HASH = "outcomeHash"
    STARTED_AT = "startedAt"
    COMPLETED_AT = "completedAt"
    DURATION_MS = "durationMs"
    FENCE = "fence"
    LEASE_UNTIL_MS = "leaseUntilMs"
    ATTEMPT_ID = "attemptId"
    RETRY_SAFE = "retrySafe"
    RETAIN_SECONDS = "retainSeconds"

    # claims of idempotency keys
    TARGET = "target"
    """The id of what the write under the key created or changed."""
    OPERATION_ID = "operationId"

    # tasks
    REQUESTER = "requester"
    QUEUE = "queue"
    LANE = "lane"
    """Its part of the queue index: open work, open approvals, or one part for each final status."""
    PAYLOAD = "payload"
    RESULT = "result"
    COMMENT = "comment"
    WORKER = "worker"
    ATTEMPTS = "attempts"
    SESSION_ID = "sessionId"
    DUE_AT = "dueAt"
    CLAIMABLE_FROM = "nextAt"
    """When the next attempt may take it: for a held task its lease expiry plus the clock-skew margin.

    The API's ``nextAt`` of a held task is the lease expiry itself.
    """
    DEADLINE = "deadline"
    ENDED_AT = "endedAt"
    DECIDED_BY = "decidedBy"
    OPEN_IN = "openIn"
    """The session in which it is open; absent once it is settled."""
    DUE = "due"
    """What the store has to do with it by itself (``Due``); absent if nothing."""
    DUE_FROM = "dueFrom"
    """When the store has to do it."""

    # audit items
    KIND = "kind"
    EVENT_NAME = "eventName"
    AT = "at"
    ACTOR = "actor"
    REQUEST_ID = "requestId"
    REGION = "region"
    CHANGES = "changes"
    SEQUENCE_NUMBER = "sequenceNumber"
    CHANGED_ITEM = "changedItem"
    """The sort key of the item that changed; its partition key is that of the audit item."""
    FACTS = "facts"

    # progress of the clean-up after a session
    COUNTED = "counted"
    UP_TO = "upTo"


PAYLOADS: Final = (
    Attribute.CONTENT,
    Attribute.DATA,
    Attribute.INPUT,
    Attribute.OUTPUT,
    Attribute.ERROR,
    Attribute.PAYLOAD,
    Attribute.RESULT,
    Attribute.COMMENT,
)
"""Contents that callers store: possibly large, and confidential."""


class Entity(StrEnum):
    """The kind of an item; the value of ``Attribute.ENTITY``."""

    SESSION = "session"
    MESSAGE = "message"
    CHECKPOINT = "checkpoint"
    TOOL_CLAIM = "toolClaim"
    TOOL_RECORD = "toolRecord"
    KEY_CLAIM = "keyClaim"
    FREE_CLAIM = "freeClaim"
    TASK = "task"
    AUDIT_EVENT = "auditEvent"
    AUDIT_CHANGE = "auditChange"
    ERASURE = "erasure"
    HEARTBEAT = "heartbeat"


class Due(StrEnum):
    """What the store has to do with an item by itself; the value of ``Attribute.DUE``."""

    TASK_END = "taskEnd"
    """End a task that has lapsed."""
