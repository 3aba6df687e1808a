"""The settings of a function, read once from its environment."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from session_store.domain.identifiers import region_code
from session_store.domain.times import DAY_SECONDS
from session_store.errors import ConfigurationError
from session_store.schema import BusEnv, Callers, CleanupEnv, Env, PayloadEnv, RedriveEnv, StreamEnv, WatchEnv

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
REGION_VARIABLE: Final = "AWS_REGION"
"""Set by Lambda itself."""


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of every function. ``audit_retention`` in seconds; ``regions`` with the primary first."""

    table: str
    audit_table: str
    region: str
    regions: tuple[str, ...]
    callers: Callers
    delegates: frozenset[str]
    status_shards: int
    audit_retention: int
    gateway_decodes_path: bool


class StreamSettings(Struct, frozen=True, kw_only=True):
    """The settings of the stream consumer, in addition to ``Settings``. ``cleanup_delay`` in seconds."""

    cleanup_queue_url: str
    cleanup_delay: int
    quarantine_bucket: str
    digested: frozenset[str]


def read_stream_settings(environment: Mapping[str, str]) -> StreamSettings:
    """Read the settings of the stream consumer from environment variables.

    Raises:
        ConfigurationError: a variable is missing or wrong; names it.
    """
    return StreamSettings(
        cleanup_queue_url=_text(environment, StreamEnv.CLEANUP_QUEUE_URL),
        cleanup_delay=_number(environment, StreamEnv.CLEANUP_DELAY_SECONDS, low=0, high=900),
        quarantine_bucket=_text(environment, StreamEnv.QUARANTINE_BUCKET),
        digested=frozenset(_list(environment, StreamEnv.AUDIT_DIGESTED, required=False)),
    )


class CleanupSettings(Struct, frozen=True, kw_only=True):
    """The settings of the clean-up, in addition to ``Settings``; None: not configured."""

    event_bus: str
    credential_prefix: str
    revocation_endpoint: str | None
    revocation_client_secret: str | None
    payload_bucket: str | None


class WatchSettings(Struct, frozen=True, kw_only=True):
    """The settings of the expiry watch, in addition to ``Settings``. ``within`` in seconds."""

    event_bus: str
    within: int


def read_cleanup_settings(environment: Mapping[str, str]) -> CleanupSettings:
    """Read the settings of the clean-up from environment variables.

    Raises:
        ConfigurationError: a variable is missing or wrong; names it.
    """
    prefix = _text(environment, CleanupEnv.CREDENTIAL_PREFIX)
    client = _optional(environment, CleanupEnv.REVOCATION_CLIENT_SECRET)
    if client is not None and not client.startswith(f"{prefix}/"):
        message = f"{CleanupEnv.REVOCATION_CLIENT_SECRET} must be a secret below {prefix}/"
        raise ConfigurationError(message)
    return CleanupSettings(
        event_bus=_text(environment, BusEnv.EVENT_BUS_NAME),
        credential_prefix=prefix,
        revocation_endpoint=_endpoint(environment),
        revocation_client_secret=client,
        payload_bucket=read_payload_bucket(environment),
    )


def read_watch_settings(environment: Mapping[str, str]) -> WatchSettings:
    """Read the settings of the expiry watch from environment variables.

    Raises:
        ConfigurationError: a variable is missing or wrong; names it.
    """
    return WatchSettings(
        event_bus=_text(environment, BusEnv.EVENT_BUS_NAME),
        within=_number(environment, WatchEnv.EXPIRING_WITHIN_SECONDS, low=60, high=DAY_SECONDS),
    )


class RedriveSettings(Struct, frozen=True, kw_only=True):
    """The queues, the function and the bucket that redriving dead letters uses."""

    stream_dead_letters_url: str
    cleanup_dead_letters_url: str
    cleanup_queue_url: str
    consumer_function: str
    quarantine_bucket: str


def read_redrive_settings(environment: Mapping[str, str]) -> RedriveSettings | None:
    """Read the settings of redrive from environment variables; None: no dead-letter queues.

    Raises:
        ConfigurationError: some variables are set and another is missing; names it.
    """
    if not any(name in environment for name in RedriveEnv):
        return None
    return RedriveSettings(
        stream_dead_letters_url=_text(environment, RedriveEnv.STREAM_DEAD_LETTERS_URL),
        cleanup_dead_letters_url=_text(environment, RedriveEnv.CLEANUP_DEAD_LETTERS_URL),
        cleanup_queue_url=_text(environment, StreamEnv.CLEANUP_QUEUE_URL),
        consumer_function=_text(environment, RedriveEnv.CONSUMER_FUNCTION),
        quarantine_bucket=_text(environment, StreamEnv.QUARANTINE_BUCKET),
    )


def read_payload_bucket(environment: Mapping[str, str]) -> str | None:
    """The bucket of large payloads; None if the deployment has none."""
    return _optional(environment, PayloadEnv.PAYLOAD_BUCKET)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings of every function from environment variables.

    Raises:
        ConfigurationError: a variable is missing or wrong; names it.
    """
    region = _text(environment, REGION_VARIABLE)
    regions = _list(environment, Env.REGIONS)
    _check_regions(REGION_VARIABLE, (region,))
    _check_regions(Env.REGIONS, regions)
    if region not in regions:
        message = f"{Env.REGIONS} must name {REGION_VARIABLE} ({region}), but is {','.join(regions)!r}"
        raise ConfigurationError(message)
    return Settings(
        table=_text(environment, Env.TABLE_NAME),
        audit_table=_text(environment, Env.AUDIT_TABLE_NAME),
        region=region,
        regions=regions,
        callers=_callers(environment),
        delegates=frozenset(_list(environment, Env.DELEGATES, required=False)),
        status_shards=_number(environment, Env.STATUS_SHARDS, low=1, high=64),
        audit_retention=_number(environment, Env.AUDIT_RETENTION_DAYS, low=1, high=3650) * DAY_SECONDS,
        gateway_decodes_path=_flag(environment, Env.GATEWAY_DECODES_PATH),
    )


def _text(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not value:
        message = f"{name} is not set"
        raise ConfigurationError(message)
    return value


def _optional(environment: Mapping[str, str], name: str) -> str | None:
    return environment.get(name) or None


def _list(environment: Mapping[str, str], name: str, *, required: bool = True) -> tuple[str, ...]:
    value = _text(environment, name) if required else environment.get(name, "")
    return tuple(entry.strip() for entry in value.split(",") if entry.strip())


def _callers(environment: Mapping[str, str]) -> Callers:
    value = environment.get(Env.CALLERS, Callers.IAM)
    try:
        return Callers(value)
    except ValueError as error:
        message = f"{Env.CALLERS} must be one of {', '.join(Callers)}, not {value!r}"
        raise ConfigurationError(message) from error


def _number(environment: Mapping[str, str], name: str, *, low: int, high: int) -> int:
    value = _text(environment, name)
    if not value.isdecimal() or not low <= int(value) <= high:
        message = f"{name} must be a whole number from {low} to {high}, not {value!r}"
        raise ConfigurationError(message)
    return int(value)


def _flag(environment: Mapping[str, str], name: str) -> bool:
    value = environment.get(name, "false")
    if value not in ("true", "false"):
        message = f"{name} must be true or false, not {value!r}"
        raise ConfigurationError(message)
    return value == "true"


def _endpoint(environment: Mapping[str, str]) -> str | None:
    """The revocation endpoint: https, as it receives tokens, or plain HTTP on this machine if allowed."""
    value = _optional(environment, CleanupEnv.REVOCATION_ENDPOINT)
    on_loopback = _flag(environment, CleanupEnv.REVOCATION_ON_LOOPBACK)
    if value is None:
        return None
    message = f"{CleanupEnv.REVOCATION_ENDPOINT} must be an https URL without user and fragment"
    try:
        url = urlsplit(value)
        host, _port = url.hostname, url.port
    except ValueError as error:
        raise ConfigurationError(message) from error
    is_allowed = url.scheme == "https" or (url.scheme == "http" and on_loopback and host in LOOPBACK)
    if not is_allowed or not host or url.username is not None or "#" in value:
        raise ConfigurationError(message)
    return value


def _check_regions(variable: str, names: tuple[str, ...]) -> None:
    for name in names:
        try:
            region_code(name)
        except ValueError as error:
            message = f"{variable}: {error}"
            raise ConfigurationError(message) from error
