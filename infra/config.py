"""Every knob of a deployment, read once from CDK context and judged before a construct exists."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from aws_cdk import aws_logs as logs

from infra import names
from infra.context import Context, flag, items, matching, member, optional, whole
from session_store.schema import Attribute

if TYPE_CHECKING:
    from constructs import Node

LOG_RETENTION: Final = {
    1: logs.RetentionDays.ONE_DAY,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}
"""The retention periods offered, in days; CloudWatch Logs accepts only certain ones."""

PAYLOADS: Final = (Attribute.CONTENT, Attribute.INPUT, Attribute.OUTPUT, Attribute.ERROR)
"""What callers keep here: large, and theirs."""

ANYONE: Final = "*"
_STAGE: Final = re.compile(r"[a-z][a-z0-9-]{0,19}")
_REGION: Final = re.compile(r"[a-z]+(-[a-z]+)+-\d")
_ACCOUNT: Final = re.compile(r"\d{12}")
_SECRET: Final = re.compile(r"(?=.{1,128}\Z)[\w+=.@-]+(/[\w+=.@-]+)*", re.ASCII)
_URL: Final = re.compile(r"https://[A-Za-z0-9.-]+(:\d{1,5})?(/[^\s#@]*)?")
_LOOPBACK_URL: Final = re.compile(r"http://(127\.0\.0\.1|localhost)(:\d{1,5})?(/[^\s#@]*)?")
_PRINCIPAL: Final = re.compile(r"\d{12}:(user|role)/[\w+=,.@-]{1,64}")


class Target(StrEnum):
    """Where the functions will run: in AWS, or in the emulator on this machine."""

    CLOUD = "cloud"
    LOCAL = "local"


class Encryption(StrEnum):
    """Whose key encrypts the tables at rest."""

    AWS_OWNED = "aws_owned"
    AWS_MANAGED = "aws_managed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    stage: str
    regions: tuple[str, ...]
    """The first is the primary; the others hold replicas."""
    account: str | None
    """None leaves the stacks account-agnostic, so that a synth needs no credentials."""
    retain: bool
    encryption: Encryption
    delegates: tuple[str, ...]
    """Principals ``<account>:user/<name>`` or ``<account>:role/<name>`` that may send Session-Subject."""
    status_shards: int
    audit_retention_days: int
    log_retention_days: int
    throttling_rate: int
    """Requests per second that the API admits before it answers 429."""
    throttling_burst: int
    audit_digested: tuple[str, ...]
    """Attributes whose values the audit tells by size and SHA-256 alone."""
    cleanup_delay_seconds: int
    """Between the end of a session and the clean-up: a child that was being written is there by then."""
    expiring_within_seconds: int
    """How long before its end a session's owner is told."""
    credential_prefix: str
    """What the names of the secrets that sessions may name begin with."""
    revocation_endpoint: str | None
    """An RFC 7009 endpoint."""
    revocation_client_secret: str | None
    """Below the prefix: the id and secret that the endpoint knows this store by."""
    target: Target

    @property
    def primary(self) -> str:
        return self.regions[0]

    @property
    def replicas(self) -> tuple[str, ...]:
        return self.regions[1:]

    @property
    def table_name(self) -> str:
        return names.session_table(self.stage)

    @property
    def audit_table_name(self) -> str:
        return names.audit_table(self.stage)

    @property
    def event_bus_name(self) -> str:
        return names.event_bus(self.stage)

    @property
    def log_retention(self) -> logs.RetentionDays:
        return LOG_RETENTION[self.log_retention_days]

    @classmethod
    def from_context(cls, node: "Node") -> "Config":
        """Raises ``ConfigError`` for the first value that is not allowed."""
        context = Context(node)
        stage = context.read(
            "stage", "dev", parse=matching(_STAGE), allowed="[a-z][a-z0-9-]*, at most 20 long"
        )
        target = context.read("target", "cloud", parse=member(Target), allowed="cloud or local")
        return cls(
            stage=stage,
            regions=context.read(
                "regions", "us-east-1", parse=_regions, allowed="distinct AWS regions, at least one"
            ),
            account=context.read(
                "account", "", parse=optional(matching(_ACCOUNT)), allowed="12 digits, or unset"
            ),
            retain=context.read("retain", stage == "prod", parse=flag, allowed="true or false"),
            encryption=context.read(
                "encryption", "aws_owned", parse=member(Encryption), allowed="aws_owned or aws_managed"
            ),
            delegates=context.read(
                "delegates",
                [],
                parse=_delegates,
                allowed="a list of <account>:user/<name>, <account>:role/<name> or *",
            ),
            status_shards=context.whole("statusShards", 4, low=1, high=64),
            audit_retention_days=context.whole("auditRetentionDays", 90, low=1, high=3650),
            log_retention_days=context.read(
                "logRetentionDays",
                30,
                parse=_log_retention,
                allowed=f"one of {', '.join(map(str, LOG_RETENTION))}",
            ),
            throttling_rate=context.whole("throttlingRate", 500, low=1, high=10_000),
            throttling_burst=context.whole("throttlingBurst", 1_000, low=1, high=10_000),
            audit_digested=context.read(
                "auditDigested",
                [attribute.value for attribute in PAYLOADS],
                parse=_attributes,
                allowed=f"a list of {', '.join(attribute.value for attribute in Attribute)}",
            ),
            cleanup_delay_seconds=context.whole(
                "cleanupDelaySeconds", 60 if target is Target.CLOUD else 2, low=0, high=900
            ),
            expiring_within_seconds=context.whole("expiringWithinSeconds", 900, low=60, high=86_400),
            credential_prefix=context.read(
                "credentialPrefix",
                names.credential_prefix(stage),
                parse=matching(_SECRET),
                allowed="the beginning of a secret's name, at most 128 long, without a slash at its ends",
            ),
            revocation_endpoint=context.read(
                "revocationEndpoint",
                "",
                parse=_endpoint(target),
                allowed="an https URL, or unset; with target=local also http on loopback",
            ),
            revocation_client_secret=context.read(
                "revocationClientSecret",
                "",
                parse=optional(matching(_SECRET)),
                allowed="a secret's name below the prefix, at most 128 long, or unset",
            ),
            target=target,
        )


def _regions(value: object) -> tuple[str, ...]:
    regions = items(value)
    if not regions or len(set(regions)) != len(regions):
        raise ValueError(value)
    return tuple(map(matching(_REGION), regions))


def _delegates(value: object) -> tuple[str, ...]:
    principal = matching(_PRINCIPAL)
    return tuple(item if item == ANYONE else principal(item) for item in items(value))


def _endpoint(target: Target) -> Callable[[object], str | None]:
    """Tokens go out by TLS alone, or stay on this machine."""
    allowed = _URL if target is Target.CLOUD else re.compile(f"{_URL.pattern}|{_LOOPBACK_URL.pattern}")
    return optional(matching(allowed))


def _attributes(value: object) -> tuple[str, ...]:
    return tuple(Attribute(item).value for item in items(value))


def _log_retention(value: object) -> int:
    days = whole(value)
    if days not in LOG_RETENTION:
        raise ValueError(days)
    return days
