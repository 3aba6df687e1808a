"""What is watched: each alarm once a region, none of them silent, each with a section of the runbook."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from session_store.metric_names import Metric, namespace_of, service_of
from session_store.schema import INDEXES
from tests.infra.anchors import anchors
from tests.infra.conftest import PACKAGES, ROOT, Synthesize, Synthesized, as_text

RUNBOOK: Final = ROOT / "docs" / "operations.md"
SCHEDULED: Final = ("expiry_watch", "heartbeat", "session_census")
TEN_MINUTES_MS: Final = 10 * 60_000
HOUR: Final = 3600

ONCE: Final[Mapping[str, tuple[float, int, int, int]]] = {
    # threshold, seconds of a period, how many of how many periods
    "api-errors": (0.05, 60, 3, 5),
    "api-latency": (3000, 60, 3, 5),
    "api-crashes": (0, 300, 1, 1),
    "payload-missing": (0, 300, 1, 1),
    "api-concurrency": (500, 60, 3, 5),
    "large-sessions": (0, HOUR, 1, 1),
    "table-errors": (10, 300, 2, 3),
    "transaction-conflicts": (300, 300, 2, 3),
    "stream-late": (TEN_MINUTES_MS, 300, 1, 1),
    "stream-dead-letters": (0, 60, 1, 1),
    "quarantined": (0, 300, 1, 1),
    "cleanup-late": (HOUR, 300, 1, 1),
    "cleanup-dead-letters": (0, 60, 1, 1),
    "credentials-failed": (0, 300, 1, 1),
    "heartbeat-silent": (1, 60, 5, 5),
}
EACH: Final = {
    **{f"{service_of(package)}-errors": (0, 300, 1, 1) for package in PACKAGES},
    **{f"{service_of(package)}-throttles": (0, 300, 1, 1) for package in PACKAGES},
    **{f"{service_of(package)}-schedule": (0, 300, 1, 1) for package in SCHEDULED},
    **{
        f"{name}-{kind}-throttles": (10, 60, 3, 5)
        for name in ("session-table", "audit-table", *(index.name for index in INDEXES))
        for kind in ("read", "write")
    },
}
EXPECTED: Final = {**ONCE, **EACH}
SILENCES: Final = {"heartbeat-silent"}
"""Raised where nothing is counted."""

REPLICATION: Final = ("p99", "maximum", "average")
"""For each region that this one's writes go to."""

NOT_IN_THE_EMULATOR: Final = {"table-errors"}
"""An expression over several metrics, which it does not know."""


def alarms(synthesized: Synthesized, *, region: str = "us-east-1") -> dict[str, Mapping[str, Any]]:
    """The alarms of a region by name, without what all names begin with."""
    prefix = f"session-store-{synthesized.deployment.config.stage}-"
    found = synthesized.properties("AWS::CloudWatch::Alarm", region=region)
    named = {alarm["AlarmName"].removeprefix(prefix): alarm for alarm in found}
    assert len(named) == len(found)
    return named


def watched(alarm: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The metrics that an alarm is about, of an expression all of them."""
    if "MetricName" in alarm:
        yield alarm
    for each in alarm.get("Metrics", []):
        if "MetricStat" in each:
            yield {
                **each["MetricStat"]["Metric"],
                **each["MetricStat"],
                "Statistic": each["MetricStat"]["Stat"],
            }


def seconds(alarm: Mapping[str, Any]) -> int:
    (period,) = {each["Period"] for each in watched(alarm)}
    return int(period)


def test_each_region_has_the_alarms_of_the_catalogue_and_no_other(every: Synthesized) -> None:
    for region in every.regions:
        found = alarms(every, region=region)
        left_out = NOT_IN_THE_EMULATOR if every.deployment.config.is_local else set()
        others = [other for other in every.regions if other != region]
        pairs = {f"replication-{kind}-{other}" for kind in REPLICATION for other in others}
        assert set(found) == (set(EXPECTED) | pairs) - left_out


@pytest.mark.parametrize("name", EXPECTED)
def test_an_alarm_is_raised_above_its_threshold_in_so_many_periods(dev: Synthesized, name: str) -> None:
    alarm = alarms(dev)[name]
    periods = alarm.get("DatapointsToAlarm", alarm["EvaluationPeriods"])
    assert (alarm["Threshold"], seconds(alarm), periods, alarm["EvaluationPeriods"]) == EXPECTED[name]


def test_an_alarm_is_above_something_and_missing_data_is_none_but_where_silence_is_the_alarm(
    every: Synthesized,
) -> None:
    for region in every.regions:
        for name, alarm in alarms(every, region=region).items():
            silence = ("LessThanThreshold", "breaching")
            otherwise = ("GreaterThanThreshold", "notBreaching")
            expected = silence if name in SILENCES else otherwise
            assert (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == expected, name


def test_every_regions_alarms_are_counted_together(prod: Synthesized) -> None:
    regions = len(prod.regions)
    pairs = regions * (regions - 1)
    expected = len(EXPECTED) * regions + len(REPLICATION) * pairs
    assert len(prod.properties("AWS::CloudWatch::Alarm")) == expected


def test_without_a_census_there_is_none_to_watch(synthesize: Synthesize) -> None:
    gone = {name for name in EXPECTED if name.startswith("session-census")}
    assert gone == {"session-census-errors", "session-census-throttles", "session-census-schedule"}
    assert set(alarms(synthesize(censusMinutes=0))) == set(EXPECTED) - gone


def test_what_a_function_counts_itself_is_looked_for_where_it_counts_it(dev: Synthesized) -> None:
    own = {
        (each["MetricName"], each["Dimensions"][0]["Value"])
        for alarm in alarms(dev).values()
        for each in watched(alarm)
        if each["Namespace"] == namespace_of("dev")
    }
    assert own == {
        (Metric.INTERNAL_ERROR, "session-api"),
        (Metric.LARGE_SESSION, "session-api"),
        (Metric.PAYLOAD_MISSING, "session-api"),
        (Metric.QUARANTINED, "audit-consumer"),
        (Metric.CREDENTIALS_FAILED, "expiry-cleanup"),
        (Metric.HEARTBEATS, "heartbeat"),
    }


def test_errors_throttles_and_schedules_are_those_of_the_function_in_the_name(dev: Synthesized) -> None:
    for package in PACKAGES:
        function = f"<{''.join(word.capitalize() for word in package.split('_'))}Function>"
        for kind, metric in (("errors", "Errors"), ("throttles", "Throttles")):
            alarm = alarms(dev)[f"{service_of(package)}-{kind}"]
            (dimension,) = alarm["Dimensions"]
            assert (alarm["MetricName"], as_text(dimension["Value"])) == (metric, function)
    for package in SCHEDULED:
        alarm = alarms(dev)[f"{service_of(package)}-schedule"]
        (dimension,) = alarm["Dimensions"]
        rule = f"<{''.join(word.capitalize() for word in package.split('_'))}Schedule>"
        assert (alarm["MetricName"], as_text(dimension["Value"])) == ("FailedInvocations", rule)


def test_throttling_is_watched_on_every_table_and_every_index_reads_and_writes(prod: Synthesized) -> None:
    watching = {
        (each["MetricName"], *(dimension["Value"] for dimension in each["Dimensions"]))
        for name in EACH
        if name.endswith(("-read-throttles", "-write-throttles"))
        for each in watched(alarms(prod, region="eu-west-1")[name])
    }
    session, audit = "session-store-prod", "session-store-audit-prod"
    places = [(session,), (audit,), *((index.name, session) for index in INDEXES)]
    throttles = ("ReadThrottleEvents", "WriteThrottleEvents")
    assert watching == {(metric, *place) for metric in throttles for place in places}


def test_dynamodbs_own_errors_are_watched_for_every_operation_that_the_functions_may_call(
    dev: Synthesized,
) -> None:
    granted = {
        action.removeprefix("dynamodb:")
        for package in PACKAGES
        for actions in dev.allowed(package).values()
        for action in actions
        if action.startswith("dynamodb:")
    }
    # Deletions and condition checks are always parts of a transaction, and streams are read by Lambda or
    # told by the redrive.
    streams = {"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"}
    called = granted - streams - {"ConditionCheckItem", "DeleteItem"} | {"TransactWriteItems"}
    dimensions = [
        {dimension["Name"]: dimension["Value"] for dimension in each["Dimensions"]}
        for each in watched(alarms(dev)["table-errors"])
    ]
    assert {each["Operation"] for each in dimensions} == called
    assert {each["TableName"] for each in dimensions} == {"session-store-dev"}


def test_the_api_is_watched_at_its_stage_whether_or_not_routes_have_metrics(
    dev: Synthesized, prod: Synthesized
) -> None:
    for synthesized in (dev, prod):
        for name, statistic in (("api-errors", "Average"), ("api-latency", "p99")):
            alarm = alarms(synthesized)[name]
            assert (alarm.get("Statistic") or alarm["ExtendedStatistic"]) == statistic
            assert {dimension["Name"] for dimension in alarm["Dimensions"]} == {"ApiName", "Stage"}


def test_the_runbook_says_how_many_alarms_there_are_and_what_they_are_paid_by(dev: Synthesized) -> None:
    metrics = sum(len(list(watched(alarm))) for alarm in alarms(dev).values())
    assert f"{len(EXPECTED)} alarms on {metrics} metrics" in RUNBOOK.read_text()


def test_where_callers_show_tokens_the_authorizer_is_watched_by_what_it_counts(
    dev: Synthesized, bearer: Synthesized
) -> None:
    more = {name: alarm for name, alarm in alarms(bearer).items() if name not in alarms(dev)}
    assert set(more) == {"authorizer-throttles", "issuer-unavailable", "authorizer-crashes"}
    counted = {
        (each["MetricName"], each["Dimensions"][0]["Value"])
        for alarm in more.values()
        for each in watched(alarm)
        if each["Namespace"] == namespace_of("dev")
    }
    assert counted == {
        (Metric.ISSUER_UNAVAILABLE, "authorizer"),
        (Metric.AUTHORIZER_CRASHED, "authorizer"),
    }


def test_every_metric_of_the_functions_is_in_the_table_with_the_function_that_counts_it() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([\w-]+)` \|", RUNBOOK.read_text(), re.MULTILINE)
    assert [name for name, _ in rows] == list(Metric)
    assert {service for _, service in rows} == {*map(service_of, PACKAGES), service_of("authorizer")}


@pytest.mark.parametrize("fixture", ["dev", "prod", "local", "bearer"])
def test_every_alarm_names_a_section_of_the_runbook_that_is_there(
    request: pytest.FixtureRequest, fixture: str
) -> None:
    synthesized: Synthesized = request.getfixturevalue(fixture)
    there = anchors(RUNBOOK)
    described = synthesized.properties("AWS::CloudWatch::Alarm")
    named = {alarm["AlarmDescription"].rpartition(f"{RUNBOOK.name}#")[2] for alarm in described}
    assert named <= set(there)
    for anchor in named:
        assert there.count(anchor) == 1


def test_a_section_of_the_runbook_says_what_it_means_where_to_look_and_what_to_do() -> None:
    _, _, part = RUNBOOK.read_text().partition("\n## Alarms\n")
    part = re.split(r"\n## ", part)[0]
    sections = part.split("\n### ")[1:]
    assert len(sections) > len(ONCE)
    for section in sections:
        for word in ("**Means:**", "**Look:**", "**Do:**"):
            assert section.count(word) == 1, section.splitlines()[0]


def test_alarms_of_this_stage_alone_may_publish_to_its_topic(
    sealed: Synthesized,
) -> None:
    for region in sealed.regions:
        (policy,) = sealed.properties("AWS::SNS::TopicPolicy", region=region)
        (granted,) = (each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow")
        assert (granted["Action"], granted["Principal"]) == (
            "sns:Publish",
            {"Service": "cloudwatch.amazonaws.com"},
        )
        condition = granted["Condition"]
        assert as_text(condition["StringEquals"]["aws:SourceAccount"]) == "<AWS::AccountId>"
        place = f"arn:aws:cloudwatch:{region}:<AWS::AccountId>"
        assert as_text(condition["ArnLike"]["aws:SourceArn"]) == f"{place}:alarm:session-store-prod-*"
