"""The first rows: title, link to the runbook, and the state of all alarms."""

from collections.abc import Iterator, Sequence

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.config import Config
from infra.dashboard.panels import COLUMNS, HEIGHT, Row
from infra.dashboard.watched import Watched


def summary(stack: Stack, everywhere: Sequence[Watched], *, config: Config) -> Iterator[Row]:
    yield [cloudwatch.TextWidget(markdown=_title(config), width=COLUMNS, height=2)]
    width = COLUMNS // len(everywhere)
    yield [_alarms(stack, watched, width=width) for watched in everywhere]


def _title(config: Config) -> str:
    runbook = f"{config.runbook}#dashboard"
    where = f"[{runbook}]({runbook})" if runbook.startswith("https:") else f"`{runbook}`"
    return f"# Session store, {config.stage}\nHow to read it, and what to do about each alarm: {where}"


def _alarms(stack: Stack, watched: Watched, *, width: int) -> cloudwatch.IWidget:
    arns = [
        stack.format_arn(
            service="cloudwatch",
            region=watched.region,
            resource="alarm",
            resource_name=name,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        for name in watched.alarms
    ]
    # By ARN, which includes the region: a stack cannot refer to resources of another region's stack.
    raised = [
        cloudwatch.Alarm.from_alarm_arn(stack, f"{watched.region}-{name}", arn)
        for name, arn in zip(watched.alarms, arns, strict=True)
    ]
    return cloudwatch.AlarmStatusWidget(
        title=f"Alarms in {watched.region}",
        alarms=raised,
        sort_by=cloudwatch.AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
        width=width,
        height=HEIGHT if watched.config.replicas else HEIGHT - 2,
    )
