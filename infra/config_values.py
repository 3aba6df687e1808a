"""Values that settings may have: enumerations, and patterns of names, addresses and endpoints."""

import re
from enum import StrEnum
from typing import Final

from aws_cdk import aws_logs as logs
from aws_cdk import region_info

from infra.context import items, matching, whole
from session_store.schema import PAYLOADS, Attribute

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

CONSISTENCY: Final = re.compile("eventual")
"""Of a global table. Strong consistency supports neither TTL nor transactions, and the store needs both."""

KEPT: Final = (*PAYLOADS, Attribute.STATE, Attribute.PROTOCOL, Attribute.CREDENTIAL_REFS)
"""The attributes that hold callers' data; the audit can record them by digest."""

ANYONE: Final = "*"
MOST_REGIONS: Final = 10
"""More than would fit on one dashboard."""

STAGE: Final = re.compile(r"[a-z][a-z0-9]{0,19}")
REGION: Final = re.compile(r"[a-z]+(-[a-z]+)+-[0-9]")
ACCOUNT: Final = re.compile(r"[0-9]{12}")
SECRET: Final = re.compile(r"(?=.{1,128}\Z)[\w+=.@-]+(/[\w+=.@-]+)*", re.ASCII)
_HTTPS: Final = r"https://[A-Za-z0-9.-]+(:\d{1,5})?(/[^\s#@]*)?"
_LOOPBACK: Final = r"http://(127\.0\.0\.1|localhost)(:\d{1,5})?(/[^\s#@]*)?"
ENDPOINT: Final = re.compile(f"{_HTTPS}|{_LOOPBACK}")
PRINCIPAL: Final = re.compile(r"[0-9]{12}:(user|role)/[A-Za-z0-9_+=,.@-]{1,64}")
EMAIL: Final = re.compile(r"[^\s@,]+@[^\s@,]+\.[^\s@,]+")
RUNBOOK: Final = re.compile(r"[^\s#]{1,200}")
_ISSUER_PATH: Final = r"(/[^\s#?@]*)?"
ISSUER: Final = re.compile(
    r"(?=.{1,256}\Z)(https://[A-Za-z0-9.-]+|http://(127\.0\.0\.1|localhost))(:\d{1,5})?" + _ISSUER_PATH
)
AUDIENCE: Final = re.compile(r"[^\s,]{1,256}")
CLAIM: Final = re.compile(r"[^\s,]{1,128}")
DAX_NODE: Final = re.compile(r"dax\.[a-z][0-9][a-z]*\.[a-z0-9]+")


class Profile(StrEnum):
    """Which defaults a deployment has: cheap and disposable, or retained and monitored."""

    DEV = "dev"
    PROD = "prod"


class Target(StrEnum):
    """Where the functions run: in AWS, or in the emulator on this machine."""

    CLOUD = "cloud"
    LOCAL = "local"


class Algorithm(StrEnum):
    """Signature algorithms of tokens: asymmetric ones only, so that a verifier cannot sign."""

    RS256 = "RS256"
    RS384 = "RS384"
    RS512 = "RS512"
    PS256 = "PS256"
    PS384 = "PS384"
    PS512 = "PS512"
    ES256 = "ES256"
    ES384 = "ES384"
    ES512 = "ES512"
    EDDSA = "EdDSA"


class Encryption(StrEnum):
    """Whose key encrypts data at rest."""

    AWS_OWNED = "aws_owned"
    AWS_MANAGED = "aws_managed"
    CUSTOMER_MANAGED = "customer_managed"


class Egress(StrEnum):
    """What a function in the cache's VPC can reach: VPC endpoints only, or the internet too."""

    ISOLATED = "isolated"
    NAT = "nat"


class ExportSchedule(StrEnum):
    NONE = "none"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"

    @property
    def days(self) -> int:
        """The longest interval between two exports; 0 without exports."""
        return {"none": 0, "daily": 1, "weekly": 7, "monthly": 31}[self.value]


def regions(value: object) -> tuple[str, ...]:
    """Only known regions: for others CDK knows neither the partition nor other facts."""
    named = tuple(map(matching(REGION), items(value)))
    if not 1 <= len(named) <= MOST_REGIONS or len(set(named)) != len(named):
        raise ValueError(value)
    if not all(region_info.RegionInfo.get(region).partition for region in named):
        raise ValueError(value)
    return named


def algorithms(value: object) -> tuple[Algorithm, ...]:
    named = tuple(map(Algorithm, items(value)))
    if not named:
        raise ValueError(value)
    return named


def delegates(value: object) -> tuple[str, ...]:
    principal = matching(PRINCIPAL)
    return tuple(item if item == ANYONE else principal(item) for item in items(value))


def kept(value: object) -> Attribute:
    attribute = Attribute(str(value))
    if attribute not in KEPT:
        raise ValueError(value)
    return attribute


def log_retention(value: object) -> int:
    days = whole(value)
    if days not in LOG_RETENTION:
        raise ValueError(days)
    return days
