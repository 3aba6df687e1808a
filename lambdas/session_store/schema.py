"""Every name that is stored or provisioned, spelled once.

The runtime builds items and expressions from these names and the CDK app
provisions tables, indexes and function environments from the very same ones;
nothing else in the project spells an attribute, a key or an index.
"""

import hashlib
from enum import StrEnum
from typing import Final, Literal

from msgspec import Struct

AttributeType = Literal["S", "N"]


class Attribute(StrEnum):
    """An attribute of an item, whatever the item is."""

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
    """The ``ttl`` whose approach the owner has been told of."""

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
    RETAIN = "retainSeconds"

    # claims of idempotency keys
    TARGET = "target"
    """The id of what the key's write made or changed."""
    OPERATION_ID = "operationId"

    # tasks
    REQUESTER = "requester"
    QUEUE = "queue"
    LANE = "lane"
    """What the queue index keeps apart: work to be done, what is to be decided, and each way of ending."""
    PAYLOAD = "payload"
    RESULT = "result"
    COMMENT = "comment"
    WORKER = "worker"
    ATTEMPTS = "attempts"
    SESSION_ID = "sessionId"
    DUE_AT = "dueAt"
    NEXT_AT = "nextAt"
    """When somebody may take it: of a task that is held, when its lease is over by every clock."""
    DEADLINE = "deadline"
    ENDED_AT = "endedAt"
    DECIDED_BY = "decidedBy"
    OPEN_IN = "openIn"
    """The session that it is open in; absent once it is over."""
    DUE = "due"
    """What becomes of it by itself (``Due``); absent where nothing does."""
    DUE_FROM = "dueFrom"
    """When that is."""

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
    """The sort key of the item that changed; its partition key is the audit item's own."""
    FACTS = "facts"

    # how far the clean-up after a session is
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
"""What callers keep here: large, and theirs."""


class Entity(StrEnum):
    """What an item is; the value of ``Attribute.ENTITY``."""

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
    """What becomes of an item by itself; the value of ``Attribute.DUE``."""

    TASK_END = "taskEnd"


SESSION_SK: Final = "metadata"
SESSION_PK_PREFIX: Final = "session#"
CONTEXT_SK_PREFIX: Final = "context#"
CHECKPOINT_SK_PREFIX: Final = "checkpoint#"
CALL_SK_PREFIX: Final = "call#"
TOOL_SK_PREFIX: Final = "tool#"
TASK_PK_PREFIX: Final = "task#"
TASK_SK: Final = "metadata"
KEY_CLAIM_PK_PREFIX: Final = "claim#"
KEY_CLAIM_SK: Final = "claim"
HEARTBEAT_PK_PREFIX: Final = "heartbeat#"
HEARTBEAT_SK: Final = "heartbeat"
"""Of no other item: the stream's mapping leaves heartbeats out by it."""
ERASURE_PK_PREFIX: Final = "cleanup#"
ERASURE_SK: Final = "erasure"

EVENT_SOURCE: Final = "session-store"
"""The source of every event on the bus."""

QUARANTINE_PREFIX: Final = "quarantine/"
"""What the keys of quarantined records in their bucket begin with."""

SEQUENCE_NUMBER_DIGITS: Final = 40
"""The longest sequence number of a stream (*StreamRecord*: 21 to 40 characters)."""


def escape(identifier: str) -> str:
    """An identifier as one part of a key: ``#`` separates parts, so it and ``%`` are escaped."""
    return identifier.replace("%", "%25").replace("#", "%23")


def session_pk(session_id: str) -> str:
    return SESSION_PK_PREFIX + escape(session_id)


def task_pk(task_id: str) -> str:
    return TASK_PK_PREFIX + escape(task_id)


def heartbeat_pk(region: str) -> str:
    return HEARTBEAT_PK_PREFIX + region


def payload_prefix(session_id: str) -> str:
    """What the keys of a session's objects in the payload bucket begin with."""
    return f"{session_id}/"


def payload_key(session_id: str, sk: str, sha256: str) -> str:
    """Of a payload of the session's child ``sk``: the same text of the same child is the same object."""
    return f"{payload_prefix(session_id)}{hashlib.sha256(sk.encode()).hexdigest()}/{sha256}"


def erasure_pk(session_id: str) -> str:
    """In the audit table, beside the session's trail and not in it: no reader of the trail meets it."""
    return ERASURE_PK_PREFIX + escape(session_id)


def key_claim_pk(key_hash: str) -> str:
    """Beside no session: a key outlives what was made with it."""
    return KEY_CLAIM_PK_PREFIX + key_hash


def message_sk(message_id: str) -> str:
    return CONTEXT_SK_PREFIX + escape(message_id)


def checkpoint_prefix(namespace: str) -> str:
    """What the sort keys of one namespace begin with, and of no other: the empty one is a name too."""
    return f"{CHECKPOINT_SK_PREFIX}{escape(namespace)}#"


def checkpoint_sk(namespace: str, checkpoint_id: str) -> str:
    return checkpoint_prefix(namespace) + escape(checkpoint_id)


def claim_sk(tool_call_id: str) -> str:
    return CALL_SK_PREFIX + escape(tool_call_id)


def record_sk(started_at: str, tool_call_id: str) -> str:
    """``started_at`` is ISO 8601 with milliseconds: text order is time order."""
    return f"{TOOL_SK_PREFIX}{started_at}#{escape(tool_call_id)}"


def audit_event_sk(at: str, event_name: str, operation_id: str) -> str:
    """In time order, and unique per operation."""
    return f"{at}#event#{event_name}#{escape(operation_id)}"


def audit_change_sk(at: str, sequence_number: str, stream: str) -> str:
    """In time order, within a second in the stream's, and unique per stream and sequence number."""
    return f"{at}#change#{sequence_number.rjust(SEQUENCE_NUMBER_DIGITS, '0')}#{escape(stream)}"


class Index(Struct, frozen=True, kw_only=True):
    """A global secondary index with native multi-attribute keys; without ``projected`` it has keys alone."""

    name: str
    partition: tuple[Attribute, ...]
    sort: tuple[Attribute, ...]
    projected: tuple[Attribute, ...]


KEY_TYPES: Final[dict[Attribute, AttributeType]] = {
    Attribute.PK: "S",
    Attribute.SK: "S",
    Attribute.STATUS: "S",
    Attribute.SHARD: "N",
    Attribute.TTL: "N",
    Attribute.TENANT: "S",
    Attribute.SUBJECT: "S",
    Attribute.CREATED_AT: "S",
    Attribute.HOME_REGION: "S",
    Attribute.LANE: "S",
    Attribute.QUEUE: "S",
    Attribute.NEXT_AT: "S",
    Attribute.OPEN_IN: "S",
    Attribute.DUE: "S",
    Attribute.DUE_FROM: "S",
}

STATUS_TTL_INDEX: Final = Index(
    name="status-ttl-index",
    partition=(Attribute.STATUS, Attribute.SHARD),
    sort=(Attribute.TTL,),
    projected=(Attribute.TENANT, Attribute.SUBJECT, Attribute.HOME_REGION, Attribute.WARNED_TTL),
)
"""Sessions of one status by the time they end, over ``shard`` partitions a status."""

OWNER_INDEX: Final = Index(
    name="owner-index",
    partition=(Attribute.TENANT, Attribute.SUBJECT),
    sort=(Attribute.CREATED_AT,),
    projected=(
        Attribute.STATUS,
        Attribute.TTL,
        Attribute.IDLE_TIMEOUT,
        Attribute.MAX_EXPIRES_AT,
        Attribute.HOME_REGION,
    ),
)
"""A caller's sessions by creation. Projects nothing that an ordinary write changes."""

QUEUE_INDEX: Final = Index(
    name="queue-index",
    partition=(Attribute.TENANT, Attribute.HOME_REGION, Attribute.LANE, Attribute.SHARD),
    sort=(Attribute.QUEUE, Attribute.NEXT_AT),
    projected=(Attribute.CLAIM_STATUS, Attribute.KIND, Attribute.SESSION_ID),
)
"""A tenant's tasks, lane by lane: in each queue by the time when somebody may take them."""

OPEN_INDEX: Final = Index(
    name="open-index",
    partition=(Attribute.OPEN_IN,),
    sort=(Attribute.CREATED_AT,),
    projected=(),
)
"""What is open in a session, by creation. Its keys never change, so it costs one write in and one out."""

DUE_INDEX: Final = Index(
    name="due-index",
    partition=(Attribute.DUE, Attribute.HOME_REGION, Attribute.SHARD),
    sort=(Attribute.DUE_FROM,),
    projected=(),
)
"""Of every tenant, what a region has to do by itself, by the time when it is due."""

INDEXES: Final = (STATUS_TTL_INDEX, OWNER_INDEX, QUEUE_INDEX, OPEN_INDEX, DUE_INDEX)


class Callers(StrEnum):
    """How callers say who they are: by AWS signatures, or by tokens of one issuer."""

    IAM = "iam"
    JWT = "jwt"


class Env(StrEnum):
    """The environment of every function: set by the stacks, read by ``settings``."""

    TABLE_NAME = "TABLE_NAME"
    AUDIT_TABLE_NAME = "AUDIT_TABLE_NAME"
    REGIONS = "SESSION_REGIONS"
    """Comma-separated regions of the deployment, the primary first."""

    DELEGATES = "SESSION_DELEGATES"
    """Comma-separated principals that may send Session-Subject; ``*`` is any."""

    CALLERS = "SESSION_CALLERS"
    """``iam`` (also where it is unset): callers sign. ``jwt``: the authorizer has verified their tokens."""

    STATUS_SHARDS = "STATUS_SHARDS"
    AUDIT_RETENTION_DAYS = "AUDIT_RETENTION_DAYS"
    GATEWAY_DECODES_PATH = "GATEWAY_DECODES_PATH"
    """``true`` where the gateway hands the function a decoded path (the emulator; API Gateway does not)."""


class JwtEnv(StrEnum):
    """What the authorizer reads, and nothing else: it knows no table."""

    ISSUER = "JWT_ISSUER"
    AUDIENCE = "JWT_AUDIENCE"
    """Comma-separated: a token is for one of them."""

    JWKS_URI = "JWT_JWKS_URI"
    ALGORITHMS = "JWT_ALGORITHMS"
    """Comma-separated."""

    ORGANISATION_CLAIM = "JWT_ORGANISATION_CLAIM"
    ON_LOOPBACK = "JWT_ON_LOOPBACK"
    """``true`` where the keys may come by plain HTTP from this machine."""


class AuthorizerContext(StrEnum):
    """What the authorizer tells the API of a caller, by API Gateway: text, each of it."""

    TENANT = "tenant"
    SUBJECT = "subject"
    PERMISSIONS = "permissions"
    """Separated by spaces."""


class StreamEnv(StrEnum):
    """What the consumer of the stream reads beside ``Env``."""

    AUDIT_DIGESTED = "AUDIT_DIGESTED"
    """Comma-separated attributes whose values the audit tells by size and SHA-256 alone."""

    CLEANUP_QUEUE_URL = "CLEANUP_QUEUE_URL"
    CLEANUP_DELAY_SECONDS = "CLEANUP_DELAY_SECONDS"
    QUARANTINE_BUCKET = "QUARANTINE_BUCKET"


class BusEnv(StrEnum):
    """What every function reads that sends events, beside ``Env``."""

    EVENT_BUS_NAME = "EVENT_BUS_NAME"


class CleanupEnv(StrEnum):
    """What the clean-up after a session reads beside ``Env`` and ``BusEnv``."""

    CREDENTIAL_PREFIX = "CREDENTIAL_PREFIX"
    """What the names of the secrets of all tenants begin with, without a slash at its end."""

    REVOCATION_ENDPOINT = "REVOCATION_ENDPOINT"
    """The RFC 7009 endpoint; without one, what a session names is reported and not revoked."""

    REVOCATION_CLIENT_SECRET = "REVOCATION_CLIENT_SECRET"  # noqa: S105 - the name of a variable
    """The secret below the prefix that holds the client's id and secret, where the endpoint asks for them."""

    REVOCATION_ON_LOOPBACK = "REVOCATION_ON_LOOPBACK"
    """``true`` where the endpoint may be plain HTTP on this machine."""


class PayloadEnv(StrEnum):
    """What those read who keep large payloads or erase them, beside the rest."""

    PAYLOAD_BUCKET = "PAYLOAD_BUCKET"
    """Without one, what is too large for an item is refused."""


class WatchEnv(StrEnum):
    """What the watch over session ends reads beside ``Env`` and ``BusEnv``."""

    EXPIRING_WITHIN_SECONDS = "EXPIRING_WITHIN_SECONDS"


class RedriveEnv(StrEnum):
    """What looks after the dead letters reads beside ``Env``, all of it or nothing.

    The clean-up queue and the bucket have the names that ``StreamEnv`` gives them.
    """

    STREAM_DEAD_LETTERS_URL = "STREAM_DEAD_LETTERS_URL"
    CLEANUP_DEAD_LETTERS_URL = "CLEANUP_DEAD_LETTERS_URL"
    CONSUMER_FUNCTION = "CONSUMER_FUNCTION"
    """The name of the function that consumes the stream."""
