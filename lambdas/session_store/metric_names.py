"""The metrics of the functions, with one definition for what counts, watches and draws them."""

from enum import StrEnum
from typing import Final

NAMESPACE: Final = "SessionStore"
"""Prefix of the namespace of each stage (``namespace_of``): several may share an account and region."""

SERVICE: Final = "service"
"""The dimension of every metric: the function that emits it, named by ``service_of``."""

STATUS: Final = "status"
"""The second dimension of ``LivingSessions``: the sessions' status. Without it, all statuses."""


class Property(StrEnum):
    """Fields of the API's metric lines that are no dimensions: for Logs Insights, at no extra cost."""

    OPERATION = "operation"
    STATUS = "status"
    DURATION_MS = "durationMs"


COLD_START: Final = "ColdStart"
"""Cold starts, counted by Powertools for every function."""

FUNCTION_NAME: Final = "function_name"
"""The dimension that ``COLD_START`` has beside ``SERVICE``."""


class Metric(StrEnum):
    """The name of a metric. Each is a count unless its text says otherwise."""

    # session_api
    SERVED = "Served"
    """Requests that succeeded."""
    REFUSED = "Refused"
    """Requests answered with a problem, the caller's (4xx) or the store's (503)."""
    INTERNAL_ERROR = "InternalError"
    """Requests that crashed and were answered 500."""
    LARGE_SESSION = "LargeSession"
    """Session answers of 64 KiB and more: the item approaches DynamoDB's limit of 400 KB."""
    PAYLOAD_MISSING = "PayloadMissing"
    """Requests answered 500 because the object of a large payload is missing or altered."""
    SESSIONS_CREATED = "SessionsCreated"
    """Sessions created; replays are not counted."""
    SESSIONS_DELETED = "SessionsDeleted"
    """Sessions deleted by their owners."""
    MESSAGES_APPENDED = "MessagesAppended"
    """New messages, of requests that succeeded; those that come with the end of a tool call too."""
    CHECKPOINTS_ADDED = "CheckpointsAdded"
    """New checkpoints."""
    TOOL_CALLS = "ToolCalls"
    """Tool calls recorded for the first time."""
    TASKS_CREATED = "TasksCreated"
    """Tasks and approvals created by requests of their own, without those that follow other work."""
    TASKS_CLAIMED = "TasksClaimed"
    """Tasks claimed by workers; each attempt counts."""
    TASKS_COMPLETED = "TasksCompleted"
    """Tasks completed."""
    APPROVALS_DECIDED = "ApprovalsDecided"
    """Approvals that were approved or rejected."""
    CONFLICTS = "Conflicts"
    """Writes refused: another version, content or input, a stale fence, or an invalid transition."""
    REPLAYS = "Replays"
    """Messages, checkpoints, tool calls, settled claims, tasks and decisions that were replayed."""
    THROTTLED = "Throttled"
    """Requests answered 503 after throttling or contention. Nothing was done."""
    OUTCOME_UNKNOWN = "OutcomeUnknown"
    """Requests answered 503 because a response was lost: the write may or may not have happened."""

    # audit_consumer
    AUDITED = "Audited"
    """Stream records processed, including those with nothing to audit."""
    QUARANTINED = "Quarantined"
    """Stream records in no known form, kept whole in the quarantine bucket."""
    FAILED = "Failed"
    """Stream records that failed and will be delivered again."""

    # expiry_cleanup
    CLEANED_UP = "CleanedUp"
    """Ended sessions whose clean-up is complete."""
    CLEANUP_FAILED = "CleanupFailed"
    """Clean-up attempts that failed and will be retried."""
    CHILDREN_DELETED = "ChildrenDeleted"
    """Child items erased after their sessions."""
    SESSIONS_EXPIRED = "SessionsExpired"
    """Sessions among ``CleanedUp`` that expired, rather than being deleted."""
    CREDENTIALS_REVOKED = "CredentialsRevoked"
    """Credentials of ended sessions that were revoked."""
    CREDENTIALS_FAILED = "CredentialsFailed"
    """Credentials that could not be revoked and will not be tried again."""

    # expiry_watch
    WARNED = "Warned"
    """Sessions for which ``SessionExpiringSoon`` was sent."""
    TASKS_LAPSED = "TasksLapsed"
    """Tasks and approvals that ended by themselves: their deadline passed, or their last attempt died."""

    # session_census
    LIVING_SESSIONS = "LivingSessions"
    """Live sessions, in all and by ``STATUS``: a gauge, taken every ``censusMinutes``."""

    # authorizer
    TOKENS_ACCEPTED = "TokensAccepted"
    """Tokens that were verified."""
    TOKENS_REFUSED = "TokensRefused"
    """Tokens refused with 401; the log has the reason."""
    ISSUER_UNAVAILABLE = "IssuerUnavailable"
    """Requests answered 500 because the issuer's keys could not be fetched: every caller is refused."""
    AUTHORIZER_CRASHED = "AuthorizerCrashed"
    """Requests answered 500 because the authorizer crashed."""

    # heartbeat
    HEARTBEATS = "Heartbeats"
    """Heartbeats written, one a minute in each region."""


def namespace_of(stage: str) -> str:
    """The CloudWatch namespace of a stage."""
    return f"{NAMESPACE}/{stage}"


def service_of(package: str) -> str:
    """The value of ``SERVICE`` for the function whose handler is in ``package``."""
    return package.replace("_", "-")
