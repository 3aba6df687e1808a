"""Alarms on what has to be looked at by a person."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct


def alarm_on_errors(scope: Construct, function: lambda_.IFunction, *, what: str) -> cloudwatch.Alarm:
    """A run of the function ended in an error."""
    return cloudwatch.Alarm(
        scope,
        "Errors",
        alarm_description=f"Session store: {what} failed",
        metric=function.metric_errors(period=Duration.minutes(5), statistic="Sum"),
        threshold=0,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluation_periods=1,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )


def alarm_on_depth(scope: Construct, queue: sqs.IQueue, *, what: str) -> cloudwatch.Alarm:
    """A message lies in a dead-letter queue."""
    return cloudwatch.Alarm(
        scope,
        "Depth",
        alarm_description=f"Session store: {what} was given up; see the dead-letter queue",
        metric=queue.metric_approximate_number_of_messages_visible(
            period=Duration.minutes(1), statistic="Maximum"
        ),
        threshold=0,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluation_periods=1,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )
