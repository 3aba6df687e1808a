"""The functions: invocations, errors, throttles, concurrency, duration, cold starts."""

from collections.abc import Iterator

from aws_cdk import aws_cloudwatch as cloudwatch

from infra import names
from infra.dashboard.metrics import MINUTE, of_function
from infra.dashboard.panels import Row, graph
from infra.dashboard.watched import Watched
from session_store.metric_names import COLD_START, FUNCTION_NAME, SERVICE, namespace_of, service_of


def functions(watched: Watched) -> Iterator[Row]:
    yield [
        _by_function(watched, "Invocations", "Invocations", "Sum", width=8),
        _by_function(watched, "Function errors", "Errors", "Sum", width=8),
        _by_function(watched, "Throttled invocations", "Throttles", "Sum", width=8),
    ]
    yield [
        _by_function(watched, "Concurrent executions", "ConcurrentExecutions", "Maximum", width=8),
        _by_function(watched, "Duration, p99", "Duration", "p99", width=8, unit="ms"),
        graph(
            watched, "Cold starts", [_cold_starts(watched, package) for package in watched.packages], width=8
        ),
    ]


def _by_function(
    watched: Watched, title: str, name: str, statistic: str, *, width: int, unit: str = ""
) -> cloudwatch.IWidget:
    each = [of_function(watched, package, name, statistic) for package in watched.packages]
    return graph(watched, title, each, width=width, unit=unit)


def _cold_starts(watched: Watched, package: str) -> cloudwatch.Metric:
    service = service_of(package)
    return cloudwatch.Metric(
        namespace=namespace_of(watched.config.stage),
        metric_name=COLD_START,
        dimensions_map={SERVICE: service, FUNCTION_NAME: names.function(watched.config.stage, package)},
        statistic="Sum",
        label=service,
        period=MINUTE,
    )
