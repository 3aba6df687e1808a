"""Functions that run every so often."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets

from infra.alarms import LONG
from infra.table_function import TableFunction
from session_store.metric_names import service_of


def run_every(step: Duration, started: TableFunction, *, about: str) -> events.Rule:
    """Start the function each ``step``, and alarm where the rule fires and the function is not started.

    No error of the function would tell of that. Of a rule that does not fire nothing tells here: EventBridge
    counts no failure then (see ``Alarms.on_silence``).

    A run that failed is not tried again: what it did not come to, the next one finds, and a
    retry would only run beside it.
    """
    started.function.configure_async_invoke(retry_attempts=0)
    rule = events.Rule(
        started,
        "Schedule",
        description=f"Session store: {about}",
        schedule=events.Schedule.rate(step),
        targets=[targets.LambdaFunction(started.function, retry_attempts=0)],
    )
    started.alarms.add(
        f"{service_of(started.package)}-schedule",
        says=f"EventBridge could not start {service_of(started.package)}",
        metric=cloudwatch.Metric(
            namespace="AWS/Events",
            metric_name="FailedInvocations",
            dimensions_map={"RuleName": rule.rule_name},
            period=LONG,
            statistic="Sum",
        ),
        above=0,
        section="schedules",
    )
    return rule
