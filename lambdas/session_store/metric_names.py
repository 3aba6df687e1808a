"""Every metric that the functions put out, spelled once: alarms and dashboards watch what is counted."""

from enum import StrEnum
from typing import Final

NAMESPACE: Final = "SessionStore"
SERVICE: Final = "service"
"""The one dimension: which function counted, as ``service_of`` names it."""


COLD_START: Final = "ColdStart"
"""Powertools' own, in our namespace: counted by a function whose handler asks for it."""

FUNCTION_NAME: Final = "function_name"
"""The dimension that it has beside ``SERVICE``."""


class Metric(StrEnum):
    """Counts, unless it says otherwise."""

    # session_api
    SERVED = "Served"
    REFUSED = "Refused"
    INTERNAL_ERROR = "InternalError"
    LARGE_SESSION = "LargeSession"
    """A session's answer from 64 KiB on: its item is on the way to DynamoDB's limit."""
    SESSIONS_CREATED = "SessionsCreated"
    SESSIONS_DELETED = "SessionsDeleted"
    MESSAGES_APPENDED = "MessagesAppended"
    TOOL_CALLS = "ToolCalls"
    """Recorded for the first time."""
    CONFLICTS = "Conflicts"
    """Writes that a condition refused: another version, another content, a transition that is none."""
    REPLAYS = "Replays"
    """Writes that were there already, and answered as the first time."""
    THROTTLED = "Throttled"
    """Answered 503: DynamoDB, or contention, left no time."""
    OUTCOME_UNKNOWN = "OutcomeUnknown"

    # audit_consumer
    AUDITED = "Audited"
    QUARANTINED = "Quarantined"
    FAILED = "Failed"

    # expiry_cleanup
    CLEANED_UP = "CleanedUp"
    CLEANUP_FAILED = "CleanupFailed"
    CHILDREN_DELETED = "ChildrenDeleted"
    SESSIONS_EXPIRED = "SessionsExpired"
    CREDENTIALS_REVOKED = "CredentialsRevoked"
    CREDENTIALS_FAILED = "CredentialsFailed"

    # expiry_watch
    WARNED = "Warned"

    # census
    LIVING_SESSIONS = "LivingSessions"
    """How many there are, by status; a gauge, counted now and then."""

    # heartbeat
    HEARTBEATS = "Heartbeats"


def service_of(package: str) -> str:
    """The value of ``SERVICE`` for the function whose handler is in ``package``."""
    return package.replace("_", "-")
