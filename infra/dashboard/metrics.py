"""CloudWatch metrics of a region's resources, by their names.

Metrics have no region here: the panel that shows them has.
"""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from infra import names
from infra.api.rest_api import STAGE_NAME
from infra.api.routes import Route
from infra.dashboard.watched import Watched
from session_store.metric_names import SERVICE, Metric, namespace_of, service_of

MINUTE: Final = Duration.minutes(1)
LONG: Final = Duration.minutes(5)

Counted = tuple[str, Metric]
"""A package, and a metric that its function emits."""


def counted(watched: Watched, package: str, metric: Metric, *, statistic: str = "Sum") -> cloudwatch.Metric:
    namespace = namespace_of(watched.config.stage)
    return _metric(namespace, metric.value, statistic, metric.value, {SERVICE: service_of(package)})


def of_api(watched: Watched, name: str, statistic: str, *, label: str = "") -> cloudwatch.Metric:
    return _metric("AWS/ApiGateway", name, statistic, label or name, _stage(watched))


def of_route(watched: Watched, route: Route, name: str, statistic: str) -> cloudwatch.Metric:
    dimensions = {**_stage(watched), "Resource": route.path, "Method": route.method}
    return _metric("AWS/ApiGateway", name, statistic, f"{route.method} {route.path}", dimensions)


def of_function(watched: Watched, package: str, name: str, statistic: str) -> cloudwatch.Metric:
    dimensions = {"FunctionName": names.function(watched.config.stage, package)}
    return _metric("AWS/Lambda", name, statistic, service_of(package), dimensions)


def of_queue(watched: Watched, purpose: str, name: str) -> cloudwatch.Metric:
    dimensions = {"QueueName": names.queue(watched.config.stage, purpose)}
    return _metric("AWS/SQS", name, "Maximum", purpose, dimensions)


def of_table(
    table: str, name: str, statistic: str = "Sum", *, label: str = "", **dimensions: str
) -> cloudwatch.Metric:
    return _metric("AWS/DynamoDB", name, statistic, label or name, {"TableName": table, **dimensions})


def of_index(table: str, index: str, name: str, *, label: str = "") -> cloudwatch.Metric:
    dimensions = {"TableName": table, "GlobalSecondaryIndexName": index}
    return _metric("AWS/DynamoDB", name, "Sum", label or index, dimensions)


def of_cluster(cluster: str, name: str, statistic: str) -> cloudwatch.Metric:
    return _metric("AWS/DAX", name, statistic, name, {"ClusterId": cluster})


def _stage(watched: Watched) -> dict[str, str]:
    return {"ApiName": names.rest_api(watched.config.stage), "Stage": STAGE_NAME}


def _metric(
    namespace: str, name: str, statistic: str, label: str, dimensions: dict[str, str]
) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map=dimensions,
        statistic=statistic,
        label=label,
        period=MINUTE,
    )
