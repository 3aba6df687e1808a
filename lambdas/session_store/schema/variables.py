"""What the stacks tell the functions, and these each other: variables, context, sources of events."""

from enum import StrEnum
from typing import Final

EVENT_SOURCE: Final = "session-store"
"""The source of every event on the bus."""


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
