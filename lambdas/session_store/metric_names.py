"""Every metric that the functions put out, spelled once: alarms and dashboards watch what is counted."""

from enum import StrEnum
from typing import Final

NAMESPACE: Final = "SessionStore"
"""Each stage counts in one of its own, ``namespace_of``: two may stand in one account and region."""

SERVICE: Final = "service"
"""The dimension of every metric: which function counted, as ``service_of`` names it."""

STATUS: Final = "status"
"""The second dimension of ``LivingSessions``: a session's status. Without it, it is all of them."""


class Property(StrEnum):
    """What a line of the API's metrics says beside them, for Logs Insights: no dimension, no price."""

    OPERATION = "operation"
    STATUS = "status"
    DURATION_MS = "durationMs"


COLD_START: Final = "ColdStart"
"""Powertools' own, in our namespace: counted by every function."""

FUNCTION_NAME: Final = "function_name"
"""The dimension that it has beside ``SERVICE``."""


class Metric(StrEnum):
    """Counts, unless it says otherwise."""

    # session_api
    SERVED = "Served"
    """Requests that did what they asked."""
    REFUSED = "Refused"
    """Requests that were answered with a problem, whosever it is."""
    INTERNAL_ERROR = "InternalError"
    """Crashes: answered 500."""
    LARGE_SESSION = "LargeSession"
    """A session's answer from 64 KiB on: its item is on the way to DynamoDB's limit."""
    PAYLOAD_MISSING = "PayloadMissing"
    """Answered 500: an object that an item refers to is not there, or is another."""
    SESSIONS_CREATED = "SessionsCreated"
    SESSIONS_DELETED = "SessionsDeleted"
    MESSAGES_APPENDED = "MessagesAppended"
    """New ones, of requests that were answered as a success."""
    CHECKPOINTS_ADDED = "CheckpointsAdded"
    TOOL_CALLS = "ToolCalls"
    """Recorded for the first time."""
    TASKS_CREATED = "TasksCreated"
    """Of requests for that alone: not those that follow other work."""
    TASKS_CLAIMED = "TasksClaimed"
    TASKS_COMPLETED = "TasksCompleted"
    APPROVALS_DECIDED = "ApprovalsDecided"
    CONFLICTS = "Conflicts"
    """Writes that a condition refused: another version, another content, a transition that is none."""
    REPLAYS = "Replays"
    """Messages, checkpoints and tool calls that were there already, and answered as the first time."""
    THROTTLED = "Throttled"
    """Answered 503: DynamoDB, or contention, left no time. Nothing was done."""
    OUTCOME_UNKNOWN = "OutcomeUnknown"
    """Answered 503: a write may or may not have happened."""

    # audit_consumer
    AUDITED = "Audited"
    """Records of the stream that are done, those among them that are nothing to audit."""
    QUARANTINED = "Quarantined"
    """Records of the stream that were not understood."""
    FAILED = "Failed"
    """Records of the stream that are delivered again."""

    # expiry_cleanup
    CLEANED_UP = "CleanedUp"
    """Ended sessions whose clean-up is done."""
    CLEANUP_FAILED = "CleanupFailed"
    """Tries of a clean-up that are to be made again."""
    CHILDREN_DELETED = "ChildrenDeleted"
    SESSIONS_EXPIRED = "SessionsExpired"
    """Those of ``CleanedUp`` that nobody had deleted."""
    CREDENTIALS_REVOKED = "CredentialsRevoked"
    CREDENTIALS_FAILED = "CredentialsFailed"
    """Credentials that the store gave up revoking."""

    # expiry_watch
    WARNED = "Warned"
    """Sessions whose end has been told of."""

    TASKS_LAPSED = "TasksLapsed"
    """Tasks and approvals that came to their end by themselves: a deadline passed, or a last attempt died."""

    # session_census
    LIVING_SESSIONS = "LivingSessions"
    """How many there are, in all and by ``STATUS``: a gauge, counted every ``censusMinutes``."""

    # authorizer
    TOKENS_ACCEPTED = "TokensAccepted"
    TOKENS_REFUSED = "TokensRefused"
    """Answered 401; the log says why."""
    ISSUER_UNAVAILABLE = "IssuerUnavailable"
    """Answered 500: the issuer's keys could not be had, so nobody was let in."""
    AUTHORIZER_CRASHED = "AuthorizerCrashed"
    """Answered 500, for another reason."""

    # heartbeat
    HEARTBEATS = "Heartbeats"


def namespace_of(stage: str) -> str:
    return f"{NAMESPACE}/{stage}"


def service_of(package: str) -> str:
    """The value of ``SERVICE`` for the function whose handler is in ``package``."""
    return package.replace("_", "-")
