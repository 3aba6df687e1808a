"""Names that stacks and functions share: environment variables, authorizer context, event source."""

from enum import StrEnum
from typing import Final

EVENT_SOURCE: Final = "session-store"
"""The source of every event on the bus."""


class Callers(StrEnum):
    """How callers authenticate: by AWS signatures, or by tokens of one issuer."""

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
    """``iam`` (the default): callers sign. ``jwt``: the authorizer has verified their tokens."""

    STATUS_SHARDS = "STATUS_SHARDS"
    AUDIT_RETENTION_DAYS = "AUDIT_RETENTION_DAYS"
    GATEWAY_DECODES_PATH = "GATEWAY_DECODES_PATH"
    """``true`` if the gateway decodes the path for the function: the emulator does, API Gateway does not."""


class JwtEnv(StrEnum):
    """The environment of the authorizer. It does not read ``Env``, as it uses no table."""

    ISSUER = "JWT_ISSUER"
    AUDIENCE = "JWT_AUDIENCE"
    """Comma-separated; a token must be for one of them."""

    JWKS_URI = "JWT_JWKS_URI"
    ALGORITHMS = "JWT_ALGORITHMS"
    """Comma-separated."""

    ORGANISATION_CLAIM = "JWT_ORGANISATION_CLAIM"
    ON_LOOPBACK = "JWT_ON_LOOPBACK"
    """``true`` if the keys may be fetched by plain HTTP from this machine."""


class AuthorizerContext(StrEnum):
    """The context in which API Gateway passes the authorizer's result to the API; every value is text."""

    TENANT = "tenant"
    SUBJECT = "subject"
    PERMISSIONS = "permissions"
    """Separated by spaces."""


class StreamEnv(StrEnum):
    """The environment of the stream consumer, in addition to ``Env``."""

    AUDIT_DIGESTED = "AUDIT_DIGESTED"
    """Comma-separated attributes whose values the audit replaces by size and SHA-256."""

    CLEANUP_QUEUE_URL = "CLEANUP_QUEUE_URL"
    CLEANUP_DELAY_SECONDS = "CLEANUP_DELAY_SECONDS"
    QUARANTINE_BUCKET = "QUARANTINE_BUCKET"


class BusEnv(StrEnum):
    """The environment of functions that send events, in addition to ``Env``."""

    EVENT_BUS_NAME = "EVENT_BUS_NAME"


class CleanupEnv(StrEnum):
    """The environment of the clean-up, in addition to ``Env`` and ``BusEnv``."""

    CREDENTIAL_PREFIX = "CREDENTIAL_PREFIX"
    """Prefix of the names of all tenants' secrets, without a trailing slash."""

    REVOCATION_ENDPOINT = "REVOCATION_ENDPOINT"
    """The RFC 7009 endpoint; without one, credentials are reported and not revoked."""

    REVOCATION_CLIENT_SECRET = "REVOCATION_CLIENT_SECRET"  # noqa: S105 - the name of a variable
    """The secret below the prefix with the client's id and secret, if the endpoint needs them."""

    REVOCATION_ON_LOOPBACK = "REVOCATION_ON_LOOPBACK"
    """``true`` if the endpoint may be plain HTTP on this machine."""


class PayloadEnv(StrEnum):
    """The environment of functions that store or erase large payloads, in addition to their own."""

    PAYLOAD_BUCKET = "PAYLOAD_BUCKET"
    """Without one, payloads too large for an item are refused."""


class WatchEnv(StrEnum):
    """The environment of the expiry watch, in addition to ``Env`` and ``BusEnv``."""

    EXPIRING_WITHIN_SECONDS = "EXPIRING_WITHIN_SECONDS"


class RedriveEnv(StrEnum):
    """The environment for redriving dead letters, in addition to ``Env``: all of it, or none.

    The clean-up queue and the quarantine bucket use the names of ``StreamEnv``.
    """

    STREAM_DEAD_LETTERS_URL = "STREAM_DEAD_LETTERS_URL"
    CLEANUP_DEAD_LETTERS_URL = "CLEANUP_DEAD_LETTERS_URL"
    CONSUMER_FUNCTION = "CONSUMER_FUNCTION"
    """The name of the function that consumes the stream."""
