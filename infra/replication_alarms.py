"""Alarms on how late a write of one region arrives in the others."""

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

    DynamoDB emits it in the region of the write, where alone an alarm can watch it. It carries
    neither region nor label: with one, an alarm is rendered as a search over metrics.
    """
    return cloudwatch.Metric(
        namespace="AWS/DynamoDB",
        metric_name="ReplicationLatency",
        dimensions_map={"TableName": config.table_name, "ReceivingRegion": to},
        statistic=statistic,
        period=period,
    )


def watch_replication(alarms: Alarms, *, config: Config, source: str) -> None:
    """Three alarms on the way from ``source``, the region of this stack, to each other region.

    - p99 tells that writes are late, if only some.
    - Average is the statistic that AWS documents; it speaks where p99 has no data.
    - Maximum tells of one partition that is stuck, which the other two do not see in traffic. It looks
      at one period of five minutes and not at five of one: a latency is emitted when a write *arrives*,
      so what was held up comes in one burst, in one minute, with none before it.

    Nothing arrives, nothing is emitted: missing data raises no alarm, and the heartbeat of ``source``
    sees to it that there is something to arrive each minute.

    The session table alone: conditions and reads of other regions depend on it, and the heartbeat is
    written there. The audit table is only appended to, each row in one region, and nobody decides by
    it; where it is late the session table is as well, for DynamoDB replicates both the same way.
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
