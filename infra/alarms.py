"""Alarms for conditions that need an operator: each with a name, a runbook section and a topic to notify."""

from typing import Final, TypedDict

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.config import Config
from session_store.metric_names import SERVICE, Metric, namespace_of, service_of

SHORT: Final = Duration.minutes(1)
LONG: Final = Duration.minutes(5)


class Alarms(Construct):
    """The alarms of one region's stack; ``raised`` lists them for a dashboard."""

    def __init__(
        self, scope: Construct, construct_id: str, *, config: Config, topic: sns.ITopic | None
    ) -> None:
        super().__init__(scope, construct_id)
        self._prefix = f"session-store-{config.stage}"
        self._runbook = config.runbook
        self._topic = topic
        self._namespace = namespace_of(config.stage)
        self.raised: list[cloudwatch.Alarm] = []

    def counted(self, metric: Metric, *, by: str, period: Duration = LONG) -> cloudwatch.Metric:
        """A metric that the function in ``by``, a folder of ``lambdas/``, emits, summed over a period."""
        return cloudwatch.Metric(
            namespace=self._namespace,
            metric_name=metric.value,
            dimensions_map={SERVICE: service_of(by)},
            period=period,
            statistic="Sum",
        )

    def add(
        self,
        name: str,
        *,
        says: str,
        metric: cloudwatch.IMetric,
        above: float,
        section: str = "",
        periods: int = 1,
        of: int = 1,
    ) -> cloudwatch.Alarm:
        """Alarm when ``metric`` is above ``above`` in ``periods`` of the last ``of`` of its periods.

        ``name`` is unique in the region, in words joined by hyphens; ``section`` is the anchor in
        docs/operations.md that says what to do, by default ``name``. Missing data raises no alarm: most
        of these metrics are emitted only when something happens.
        """
        return self._raise(
            name,
            says=says,
            section=section or name,
            condition=_Condition(
                metric=metric,
                threshold=above,
                comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
                evaluation_periods=of,
                datapoints_to_alarm=periods,
                treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            ),
        )

    def on_silence(
        self, name: str, *, says: str, metric: cloudwatch.IMetric, periods: int
    ) -> cloudwatch.Alarm:
        """Alarm when ``metric``, which is emitted in every period, is missing in the last ``periods``.

        The only alarm that missing data raises. A new stack therefore raises it until the first value is
        emitted.
        """
        return self._raise(
            name,
            says=says,
            section=name,
            condition=_Condition(
                metric=metric,
                threshold=1,
                comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
                evaluation_periods=periods,
                datapoints_to_alarm=periods,
                treat_missing_data=cloudwatch.TreatMissingData.BREACHING,
            ),
        )

    def on_errors(self, function: lambda_.IFunction, name: str, *, says: str) -> None:
        """A run of the function ended in an error."""
        errors = function.metric_errors(period=LONG, statistic="Sum")
        self.add(f"{name}-errors", says=says, metric=errors, above=0)

    def on_throttles(self, function: lambda_.IFunction, name: str) -> None:
        """Lambda refused to run the function because the account's concurrency was used up."""
        self.add(
            f"{name}-throttles",
            says=f"Lambda throttles {name}",
            metric=function.metric_throttles(period=LONG, statistic="Sum"),
            above=0,
            section="function-throttles",
        )

    def on_depth(self, queue: sqs.IQueue, name: str, *, says: str, section: str = "dead-letters") -> None:
        """A dead-letter queue holds a message."""
        depth = queue.metric_approximate_number_of_messages_visible(period=SHORT, statistic="Maximum")
        self.add(f"{name}-dead-letters", says=says, metric=depth, above=0, section=section)

    def _raise(self, name: str, *, says: str, section: str, condition: "_Condition") -> cloudwatch.Alarm:
        alarm = cloudwatch.Alarm(
            self,
            "".join(word.capitalize() for word in name.split("-")),
            alarm_name=f"{self._prefix}-{name}",
            alarm_description=f"Session store: {says}. What to do: {self._runbook}#{section}",
            **condition,
        )
        if self._topic is not None:
            alarm.add_alarm_action(actions.SnsAction(self._topic))
            alarm.add_ok_action(actions.SnsAction(self._topic))
        self.raised.append(alarm)
        return alarm


class _Condition(TypedDict):
    metric: cloudwatch.IMetric
    threshold: float
    comparison_operator: cloudwatch.ComparisonOperator
    evaluation_periods: int
    datapoints_to_alarm: int
    treat_missing_data: cloudwatch.TreatMissingData
