"""Usage: sessions, tool calls, messages, checkpoints, tasks, conflicts."""

from collections.abc import Iterator, Mapping
from typing import Final

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.dashboard.metrics import LONG, Counted, counted
from infra.dashboard.panels import Row, graph
from infra.dashboard.watched import Watched
from session_store.metric_names import SERVICE, STATUS, Metric, namespace_of, service_of

SESSIONS: Final[tuple[Counted, ...]] = (
    ("session_api", Metric.SESSIONS_CREATED),
    ("session_api", Metric.SESSIONS_DELETED),
    ("expiry_cleanup", Metric.SESSIONS_EXPIRED),
)
WORK: Final[tuple[Counted, ...]] = (
    ("session_api", Metric.TOOL_CALLS),
    ("session_api", Metric.MESSAGES_APPENDED),
    ("session_api", Metric.CHECKPOINTS_ADDED),
)
TASKS: Final[tuple[Counted, ...]] = (
    ("session_api", Metric.TASKS_CREATED),
    ("session_api", Metric.TASKS_CLAIMED),
    ("session_api", Metric.TASKS_COMPLETED),
    ("session_api", Metric.APPROVALS_DECIDED),
    ("expiry_watch", Metric.TASKS_LAPSED),
)
MEETINGS: Final[tuple[Counted, ...]] = (
    ("session_api", Metric.CONFLICTS),
    ("session_api", Metric.REPLAYS),
    ("session_api", Metric.LARGE_SESSION),
)
STATUSES: Final = ("initializing", "active", "closing", "closed")
"""Values of a dimension, spelled out: infra imports names from the runtime, not its domain."""

CENSUS: Final = "session_census"


def business(watched: Watched) -> Iterator[Row]:
    yield [
        graph(watched, "Sessions created and ended", _each(watched, SESSIONS)),
        *_living(watched),
        graph(watched, "Tool calls, messages, checkpoints", _each(watched, WORK)),
        graph(watched, "Tasks and approvals", _each(watched, TASKS)),
        graph(watched, "Conflicts, replays, large sessions", _each(watched, MEETINGS)),
    ]


def _each(watched: Watched, metrics: tuple[Counted, ...]) -> Iterator[cloudwatch.Metric]:
    return (counted(watched, *each) for each in metrics)


def _living(watched: Watched) -> Row:
    """Only if there is a census."""
    if CENSUS not in watched.packages:
        return []
    by_status = (_census(watched, status, {STATUS: status}) for status in STATUSES)
    return [graph(watched, "Living sessions by status", [_census(watched, "all", {}), *by_status])]


def _census(watched: Watched, label: str, dimensions: Mapping[str, str]) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace_of(watched.config.stage),
        metric_name=Metric.LIVING_SESSIONS.value,
        dimensions_map={SERVICE: service_of(CENSUS), **dimensions},
        statistic="Maximum",
        label=label,
        period=LONG,
    )
