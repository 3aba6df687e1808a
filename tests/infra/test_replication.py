"""How late writes arrive in other regions is watched on every way there is, where it is measured."""

from collections.abc import Mapping
from itertools import permutations
from typing import Any

from tests.infra.conftest import REGIONS, Synthesized

MINUTE = 60
SECOND = 1000
"""In the metric's milliseconds."""


def replication_alarms(synthesized: Synthesized, *, region: str = "") -> list[Mapping[str, Any]]:
    alarms = synthesized.properties("AWS::CloudWatch::Alarm", region=region)
    return [alarm for alarm in alarms if alarm.get("MetricName") == "ReplicationLatency"]


def dimensions(alarm: Mapping[str, Any]) -> dict[str, str]:
    return {dimension["Name"]: dimension["Value"] for dimension in alarm["Dimensions"]}


def statistic(alarm: Mapping[str, Any]) -> str:
    return str(alarm.get("ExtendedStatistic") or alarm["Statistic"])


def test_each_ordered_pair_of_regions_has_one_set_of_three_alarms(every: Synthesized) -> None:
    watched = [
        (source, dimensions(alarm)["ReceivingRegion"], statistic(alarm))
        for source in every.regions
        for alarm in replication_alarms(every, region=source)
    ]
    pairs = permutations(every.regions, 2)
    assert sorted(watched) == sorted(
        (source, destination, kind) for source, destination in pairs for kind in ("p99", "Average", "Maximum")
    )


def test_an_alarm_looks_at_the_session_table_by_a_plain_metric(prod: Synthesized) -> None:
    for alarm in replication_alarms(prod):
        assert alarm["Namespace"] == "AWS/DynamoDB"
        assert dimensions(alarm)["TableName"] == "session-store-prod"
        assert len(alarm["Dimensions"]) == 2
        assert "Metrics" not in alarm


def test_they_alarm_late_for_30_seconds_in_two_of_three_minutes_or_once_for_60_in_five(
    prod: Synthesized,
) -> None:
    expected = {
        "p99": (30 * SECOND, MINUTE, 2, 3),
        "Average": (30 * SECOND, MINUTE, 2, 3),
        "Maximum": (60 * SECOND, 5 * MINUTE, 1, 1),
    }
    for alarm in replication_alarms(prod):
        rule = (alarm["Threshold"], alarm["Period"], alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"])
        assert rule == expected[statistic(alarm)]
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
        assert alarm["TreatMissingData"] == "notBreaching"


def test_they_are_named_by_what_they_watch_and_lead_to_one_section(prod: Synthesized) -> None:
    named = {alarm["AlarmName"] for alarm in replication_alarms(prod, region=REGIONS[0])}
    assert named == {
        f"session-store-prod-replication-{kind}-{destination}"
        for kind in ("p99", "average", "maximum")
        for destination in REGIONS[1:]
    }
    for alarm in replication_alarms(prod):
        assert alarm["AlarmDescription"].endswith("docs/operations.md#replication-latency")
        assert len(alarm["AlarmActions"]) == len(alarm["OKActions"]) == 1
