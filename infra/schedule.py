"""Functions that run on a schedule."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets

from infra.alarms import LONG
from infra.table_function import TableFunction
from session_store.metric_names import service_of


def run_every(step: Duration, started: TableFunction, *, about: str) -> events.Rule:
    """Run the function every ``step``, and alarm if the rule fires but the function cannot be started.

    The function would report no error in that case. A rule that does not fire is not detected here, since
    EventBridge counts no failure then (see ``Alarms.on_silence``).

    A failed run is not retried: the next run picks up its work, and a retry would only run next to it.
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
