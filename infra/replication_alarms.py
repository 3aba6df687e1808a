"""Alarms on replication latency from one region to the others."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.alarms import LONG, SHORT, Alarms
from infra.config import Config

SECTION: Final = "replication-latency"
LATE: Final = Duration.seconds(30)
VERY_LATE: Final = Duration.seconds(60)


def replication_latency(
    config: Config, *, to: str, statistic: str, period: Duration = SHORT
) -> cloudwatch.Metric:
    """Milliseconds between a write to the session table here and its arrival in ``to``.

    DynamoDB emits it in the region of the write, so only an alarm there can watch it. It has no region
    and no label: with either, CDK renders an alarm on it as a metric search.
    """
    return cloudwatch.Metric(
        namespace="AWS/DynamoDB",
        metric_name="ReplicationLatency",
        dimensions_map={"TableName": config.table_name, "ReceivingRegion": to},
        statistic=statistic,
        period=period,
    )


def watch_replication(alarms: Alarms, *, config: Config, source: str) -> None:
    """Three alarms on replication from ``source``, the region of this stack, to each other region.

    - p99 detects that at least some writes are late.
    - Average is the statistic that AWS documents; it covers the case that p99 has no data.
    - Maximum detects a single stuck partition, which the other two miss under traffic. It evaluates one
      period of five minutes rather than five of one minute: a latency is emitted when a write *arrives*,
      so delayed writes arrive in one burst, within one minute, with no data before it.

    While nothing arrives, nothing is emitted, and missing data raises no alarm. The heartbeat of
    ``source`` makes sure that there is a write to replicate every minute.

    Only the session table is watched: other regions' conditions and reads depend on it, and the heartbeat
    is written there. Audit rows are only appended, each in one region, and nothing is decided by them.
    DynamoDB replicates both tables the same way, so if one is late the other is too.
    """
    for destination in config.regions:
        if destination == source:
            continue
        for statistic, late in (("p99", "late (p99)"), ("Average", "late (average)")):
            alarms.add(
                f"replication-{statistic.lower()}-{destination}",
                says=f"writes arrive in {destination} more than {LATE.to_seconds():.0f} s {late}",
                metric=replication_latency(config, to=destination, statistic=statistic),
                above=LATE.to_milliseconds(),
                periods=2,
                of=3,
                section=SECTION,
            )
        alarms.add(
            f"replication-maximum-{destination}",
            says=f"a write arrived in {destination} more than {VERY_LATE.to_seconds():.0f} s late",
            metric=replication_latency(config, to=destination, statistic="Maximum", period=LONG),
            above=VERY_LATE.to_milliseconds(),
            section=SECTION,
        )
