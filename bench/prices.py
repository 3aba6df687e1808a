"""AWS prices as data: us-east-1, on demand, no free tiers, no discounts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

AS_OF: Final = "from July 2025 to June 2026"
"""When the quoted pages were written; DynamoDB's prices are in effect since November 2024."""

MILLION: Final = 1_000_000
HOURS: Final = 730
"""Per month, as AWS calculates."""


class Meter(StrEnum):
    """What is billed; the value is its unit."""

    WRITE = "write request unit"
    READ = "read request unit"
    CALL = "API Gateway call"
    INVOCATION = "Lambda request"
    GB_SECOND = "Lambda GB-second, arm64"
    QUEUE = "SQS request"
    EVENT = "EventBridge event"
    OBJECT_WRITE = "S3 PUT or LIST request"
    OBJECT_READ = "S3 GET request"
    LOG_GB = "GB of logs ingested"
    TRACE = "X-Ray trace"
    STORED = "GB-month of table"
    RECOVERABLE = "GB-month of point-in-time recovery"
    ALARM = "alarm, per metric and month"
    METRIC = "custom metric, per month"
    DASHBOARD = "dashboard, per month"
    KEY = "KMS key, per month"
    WEB_ACL = "WAF web ACL, per month"
    WEB_RULE = "WAF rule, per month"
    WEB_CALL = "WAF request"
    DAX_HOUR = "dax.t3.small node, per hour"
    NAT_HOUR = "NAT gateway, per hour"
    ENDPOINT_HOUR = "interface endpoint, per zone and hour"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """``dollars`` for ``units`` of the unit; ``source`` is where it was quoted."""

    dollars: float
    units: int = 1
    source: str


_DYNAMODB: Final = "airbyte.com/data-engineering-resources/dynamodb-pricing"
_STORAGE: Final = "aws.amazon.com/dynamodb/pricing"
_ALARMS: Final = "c3x.dev/resources/aws/aws_cloudwatch_metric_alarm"
_CLOUDWATCH: Final = "factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards"
_LAMBDA: Final = "wring.co/blog/aws-lambda-pricing-guide"
_S3: Final = "cloudburn.io/blog/amazon-s3-pricing"
_WAF: Final = "c3x.dev/blog/aws-waf-cost-explained"
_NETWORK: Final = "zacfukuda.com/blog/aws-nat-gateway-vs-vpc-endpoint"

PRICES: Final[Mapping[Meter, Price]] = {
    Meter.WRITE: Price(dollars=0.625, units=MILLION, source=_DYNAMODB),
    Meter.READ: Price(dollars=0.125, units=MILLION, source=_DYNAMODB),
    Meter.STORED: Price(dollars=0.25, source=_STORAGE),
    Meter.RECOVERABLE: Price(dollars=0.20, source=_STORAGE),
    Meter.CALL: Price(
        dollars=3.50,
        units=MILLION,
        source="docs.aws.amazon.com/whitepapers: Best Practices for API Gateway Private APIs, cost",
    ),
    Meter.INVOCATION: Price(dollars=0.20, units=MILLION, source=_LAMBDA),
    Meter.GB_SECOND: Price(dollars=0.0000133334, source=_LAMBDA),
    Meter.QUEUE: Price(dollars=0.40, units=MILLION, source="cloudburn.io/blog/amazon-sqs-pricing"),
    Meter.EVENT: Price(dollars=1.00, units=MILLION, source="cloudburn.io/blog/amazon-eventbridge-pricing"),
    Meter.OBJECT_WRITE: Price(dollars=0.005, units=1000, source=_S3),
    Meter.OBJECT_READ: Price(dollars=0.0004, units=1000, source=_S3),
    Meter.LOG_GB: Price(dollars=0.50, source=_CLOUDWATCH),
    Meter.TRACE: Price(dollars=5.00, units=MILLION, source="aws.amazon.com/xray/pricing"),
    Meter.ALARM: Price(dollars=0.10, source=_ALARMS),
    Meter.METRIC: Price(dollars=0.30, source="signoz.io/guides/cloudwatch-pricing"),
    Meter.DASHBOARD: Price(dollars=3.00, source=_CLOUDWATCH),
    Meter.KEY: Price(dollars=1.00, source="aws.amazon.com/kms/pricing"),
    Meter.WEB_ACL: Price(dollars=5.00, source=_WAF),
    Meter.WEB_RULE: Price(dollars=1.00, source=_WAF),
    Meter.WEB_CALL: Price(dollars=0.60, units=MILLION, source=_WAF),
    Meter.DAX_HOUR: Price(dollars=0.04, source="usage.ai/blog/aws-reserved-instances-dynamodb-dax-pricing"),
    Meter.NAT_HOUR: Price(dollars=0.045, source=_NETWORK),
    Meter.ENDPOINT_HOUR: Price(dollars=0.01, source=_NETWORK),
}


@dataclass(frozen=True, slots=True)
class Usage:
    """Amounts by meter."""

    amounts: Mapping[Meter, float] = field(default_factory=dict)

    def __add__(self, other: "Usage") -> "Usage":
        meters = self.amounts.keys() | other.amounts.keys()
        return Usage({meter: self.of(meter) + other.of(meter) for meter in meters})

    def __mul__(self, times: float) -> "Usage":
        return Usage({meter: amount * times for meter, amount in self.amounts.items()})

    def of(self, meter: Meter) -> float:
        return self.amounts.get(meter, 0.0)

    def dollars(self, *meters: Meter) -> float:
        """The cost of these meters, or of all."""
        return sum(
            amount * PRICES[meter].dollars / PRICES[meter].units
            for meter, amount in self.amounts.items()
            if not meters or meter in meters
        )


def total(usages: Iterable[Usage]) -> Usage:
    return sum(usages, start=Usage())


def break_even_hits(*, nodes: int, units_a_read: float) -> float:
    """Cached reads per second above which ``nodes`` of a cluster cost less than the reads that they save."""
    an_hour = Usage({Meter.DAX_HOUR: nodes}).dollars()
    return an_hour / (3600 * Usage({Meter.READ: units_a_read}).dollars())
