"""Alarms on the API: what callers notice, and what they will notice soon."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_

from infra.alarms import SHORT, Alarms
from session_store.metric_names import Metric

ERROR_RATE: Final = 0.05
"""Share of all responses: a single failure at night is no outage, one in twenty affects everybody."""

SLOW_MS: Final = 3_000
"""For the 99th percentile: above a cold start, and where callers start to time out and retry."""

MINUTES: Final = 3
OUT_OF: Final = 5
"""Three bad minutes of five: a deployment or a partition split passes, an outage does not."""

MANY_AT_ONCE: Final = 500
"""Half of Lambda's default concurrency of an account in a region, which leaves time to raise the quota."""

HOUR: Final = Duration.hours(1)


def alarm_on_api(alarms: Alarms, *, stage: apigateway.Stage, function: lambda_.IFunction) -> None:
    alarms.add(
        "api-errors",
        says="more than 5% of API responses are server errors (5xx)",
        metric=stage.metric_server_error(period=SHORT, statistic="Average"),
        above=ERROR_RATE,
        periods=MINUTES,
        of=OUT_OF,
    )
    alarms.add(
        "api-latency",
        says="the API's 99th percentile of latency is above 3 s",
        metric=stage.metric_latency(period=SHORT, statistic="p99"),
        above=SLOW_MS,
        periods=MINUTES,
        of=OUT_OF,
    )
    alarms.add(
        "api-crashes",
        says="an API request failed with an unhandled error",
        metric=alarms.counted(Metric.INTERNAL_ERROR, by="session_api"),
        above=0,
    )
    alarms.add(
        "payload-missing",
        says="a large payload is missing from its bucket or differs from what was stored",
        metric=alarms.counted(Metric.PAYLOAD_MISSING, by="session_api"),
        above=0,
    )
    alarms.add(
        "api-concurrency",
        says="the API's function uses half of an account's default concurrency",
        metric=function.metric("ConcurrentExecutions", period=SHORT, statistic="Maximum"),
        above=MANY_AT_ONCE,
        periods=MINUTES,
        of=OUT_OF,
    )
    # By the hour: it warns weeks ahead, and would be ignored if it came every five minutes.
    alarms.add(
        "large-sessions",
        says="sessions approach DynamoDB's limit on item size",
        metric=alarms.counted(Metric.LARGE_SESSION, by="session_api", period=HOUR),
        above=0,
    )
