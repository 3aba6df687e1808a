"""Replication latency between regions, and whether each region takes writes."""

from collections.abc import Iterator, Sequence
from typing import Final

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.dashboard.metrics import counted, of_table
from infra.dashboard.panels import COLUMNS, Row, graph
from infra.dashboard.watched import Watched
from session_store.metric_names import Metric

STATISTICS: Final = ("Average", "p99", "Maximum")
LIMITS: Final = ((30_000, "Average, p99"), (60_000, "Maximum"))
"""In milliseconds: the thresholds of the alarms on replication."""


def regions(everywhere: Sequence[Watched]) -> Iterator[Row]:
    """One row per source, one column per destination. DynamoDB emits the latency in the source."""
    for source in everywhere:
        others = [each.region for each in everywhere if each.region != source.region]
        width = COLUMNS // (len(others) + 1)
        row = [_latency(source, destination, width=width) for destination in others]
        beats = counted(source, "heartbeat", Metric.HEARTBEATS)
        row.append(graph(source, "Heartbeats", [beats], width=width))
        yield row


def _latency(source: Watched, destination: str, *, width: int) -> cloudwatch.IWidget:
    return graph(
        source,
        f"Replication to {destination}",
        [
            of_table(
                source.config.table_name,
                "ReplicationLatency",
                statistic,
                label=statistic,
                ReceivingRegion=destination,
            )
            for statistic in STATISTICS
        ],
        width=width,
        unit="ms",
        limits=LIMITS,
    )
