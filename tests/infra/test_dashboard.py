"""The dashboard shows what is there, all of it, and stays within what CloudWatch draws."""

import pytest

from infra import names
from infra.api.routes import routes
from session_store.domain.session import Status
from session_store.metric_names import COLD_START, Metric, namespace_of
from session_store.schema import INDEXES
from tests.infra.board import KIND, shown, titles, widgets
from tests.infra.conftest import REGIONS, Synthesize, Synthesized

MOST_WIDGETS = 500
MOST_METRICS = 500
MOST_METRICS_IN_ALL = 2_500
MOST_ALARMS = 100
"""In one widget."""

COLUMNS = 24


@pytest.fixture(scope="module")
def everything(synthesize: Synthesize) -> Synthesized:
    """Three regions and every option that has a panel of its own."""
    return synthesize(
        stage="prod",
        regions=",".join(REGIONS),
        account="111122223333",
        daxNodes=3,
        egress="nat",
        kinesisStream=True,
        auditExport="weekly",
        routeMetrics=True,
    )


def test_there_is_one_and_it_is_in_the_primary_region(prod: Synthesized) -> None:
    (name,) = prod.resources(KIND)
    assert name.startswith("SessionStore-prod-Dashboard/")
    assert prod.deployment.dashboard.region == REGIONS[0]
    (board,) = prod.properties(KIND)
    assert board["DashboardName"] == "session-store-prod"


def test_it_stays_within_what_cloudwatch_draws(everything: Synthesized) -> None:
    drawn = widgets(everything)
    counts = [len(widget["properties"].get("metrics", [])) for widget in drawn]
    assert len(drawn) <= MOST_WIDGETS
    assert max(counts) <= MOST_METRICS
    assert sum(counts) <= MOST_METRICS_IN_ALL
    assert all(len(widget["properties"].get("alarms", [])) <= MOST_ALARMS for widget in drawn)


def test_no_panel_lies_on_another(everything: Synthesized) -> None:
    taken: set[tuple[int, int]] = set()
    for widget in widgets(everything):
        assert widget["x"] + widget["width"] <= COLUMNS
        cells = {
            (x, y)
            for x in range(widget["x"], widget["x"] + widget["width"])
            for y in range(widget["y"], widget["y"] + widget["height"])
        }
        assert not cells & taken, widget["properties"].get("title")
        taken |= cells


def test_what_comes_first_is_the_state_of_every_alarm_of_every_region(every: Synthesized) -> None:
    heading, *alarms = widgets(every)[: 1 + len(every.regions)]
    assert "docs/operations.md#dashboard" in heading["properties"]["markdown"]
    listed = {arn for widget in alarms for arn in widget["properties"]["alarms"]}
    account = every.deployment.config.account or "<AWS::AccountId>"
    raised = {
        f"{region}:{account}:alarm:{alarm['AlarmName']}"
        for region in every.regions
        for alarm in every.properties("AWS::CloudWatch::Alarm", region=region)
    }
    assert {arn.split(":cloudwatch:")[1] for arn in listed} == raised
    assert len(alarms) == len(every.regions)


COUNTED_BY = {
    Metric.LIVING_SESSIONS: "session_census",
    Metric.HEARTBEATS: "heartbeat",
    Metric.TOKENS_ACCEPTED: "authorizer",
    Metric.TOKENS_REFUSED: "authorizer",
    Metric.ISSUER_UNAVAILABLE: "authorizer",
    Metric.AUTHORIZER_CRASHED: "authorizer",
}
"""By functions that not every deployment has."""


def test_what_is_counted_has_a_panel_in_every_region(every: Synthesized) -> None:
    there = {function["Handler"].partition(".")[0] for function in every.functions()}
    counted = {each.value for each in Metric if COUNTED_BY.get(each, "session_api") in there}
    for region in every.regions:
        names_shown = {
            each.name
            for each in shown(every)
            if (each.region, each.namespace) == (region, namespace_of(every.deployment.config.stage))
        }
        assert names_shown - {COLD_START} == counted


def test_each_function_of_each_region_is_shown_by_the_name_that_it_has(every: Synthesized) -> None:
    for region in every.regions:
        there = {function["FunctionName"] for function in every.functions(region=region)}
        for name in ("Invocations", "Errors", "Throttles", "ConcurrentExecutions", "Duration"):
            found = {
                each.dimensions["FunctionName"]
                for each in shown(every)
                if (each.region, each.namespace, each.name) == (region, "AWS/Lambda", name)
            }
            assert found == there, name


def test_the_queues_are_shown_by_the_names_that_they_have(every: Synthesized) -> None:
    for region in every.regions:
        there = {queue["QueueName"] for queue in every.properties("AWS::SQS::Queue", region=region)}
        for name in ("ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"):
            found = {
                each.dimensions["QueueName"]
                for each in shown(every)
                if (each.region, each.name) == (region, name)
            }
            assert found == there


def test_letters_of_exports_are_shown_where_the_audit_is_exported_from(everything: Synthesized) -> None:
    (queue,) = everything.of_stack("-Data", "AWS::SQS::Queue").values()
    for name in ("ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"):
        found = [
            each.region
            for each in shown(everything)
            if (each.name, each.dimensions.get("QueueName")) == (name, queue["Properties"]["QueueName"])
        ]
        assert found == [REGIONS[0]]


def test_a_function_counts_under_the_service_that_the_panels_ask_for(every: Synthesized) -> None:
    services = {
        function["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"] for function in every.functions()
    }
    asked = {
        each.dimensions["service"]
        for each in shown(every)
        if each.namespace == namespace_of(every.deployment.config.stage)
    }
    assert asked <= services


def test_units_and_throttles_are_told_by_table_and_by_index(prod: Synthesized) -> None:
    wanted = {("session-store-prod", ""), ("session-store-audit-prod", "")} | {
        ("session-store-prod", index.name) for index in INDEXES
    }
    for name in (
        "ConsumedWriteCapacityUnits",
        "ConsumedReadCapacityUnits",
        "WriteThrottleEvents",
        "ReadThrottleEvents",
    ):
        for region in REGIONS:
            found = {
                (each.dimensions["TableName"], each.dimensions.get("GlobalSecondaryIndexName", ""))
                for each in shown(prod)
                if (each.region, each.name) == (region, name)
            }
            assert found == wanted, name


def test_each_route_has_its_percentiles_where_its_metrics_are_paid_for(
    everything: Synthesized, dev: Synthesized
) -> None:
    api = "session-store-prod"
    (rest,) = everything.properties("AWS::ApiGateway::RestApi", region=REGIONS[1])
    assert rest["Name"] == api
    found = {
        (each.dimensions["Method"], each.dimensions["Resource"], each.statistic)
        for each in shown(everything)
        if each.region == REGIONS[1] and "Resource" in each.dimensions
    }
    assert found == {
        (route.method, route.path, percentile) for route in routes() for percentile in ("p50", "p90", "p99")
    }
    assert not [each for each in shown(dev) if "Resource" in each.dimensions]
    assert {each.statistic for each in shown(dev) if each.name == "Latency"} == {"p50", "p90", "p99"}


def test_replication_is_shown_from_each_region_to_each_other(prod: Synthesized, dev: Synthesized) -> None:
    pairs = {
        (each.region, each.dimensions["ReceivingRegion"], each.statistic)
        for each in shown(prod)
        if each.name == "ReplicationLatency"
    }
    assert pairs == {
        (source, destination, statistic)
        for source in REGIONS
        for destination in REGIONS
        if source != destination
        for statistic in ("Average", "p99", "Maximum")
    }
    assert not [title for title in titles(dev) if title.startswith("Replication")]


def test_a_cache_and_a_kinesis_stream_are_shown_where_they_are(
    everything: Synthesized, dev: Synthesized
) -> None:
    namespaces = {each.namespace for each in shown(everything)}
    assert "AWS/DAX" in namespaces
    assert "AWS/DAX" not in {each.namespace for each in shown(dev)}
    (rate, *_) = (
        widget["properties"]["metrics"]
        for widget in widgets(everything)
        if widget["properties"].get("title", "").startswith("Cache: hit rate")
    )
    (expression, *parts) = rate
    assert expression[0]["expression"] == "100 * FILL(hits, 0) / (FILL(hits, 0) + FILL(misses, 0))"
    assert [part[1] for part in parts] == ["ItemCacheHits", "ItemCacheMisses"]
    assert [title for title in titles(everything) if title.startswith("Kinesis")]
    assert not [title for title in titles(dev) if title.startswith(("Kinesis", "Cache"))]


def test_the_rest_of_what_wakes_people_is_there(every: Synthesized) -> None:
    found = {each.name for each in shown(every)}
    assert found >= {
        "4XXError",
        "5XXError",
        "ConditionalCheckFailedRequests",
        "TransactionConflict",
        "IteratorAge",
        "TimeToLiveDeletedItemCount",
    }


def test_a_panel_names_its_region_only_where_there_is_another(prod: Synthesized, dev: Synthesized) -> None:
    assert "Requests" in titles(dev)
    assert {f"Requests ({region})" for region in REGIONS} <= titles(prod)


def test_living_sessions_are_told_in_all_and_by_every_status_that_a_session_has(dev: Synthesized) -> None:
    told = {each.dimensions.get("status") for each in shown(dev) if each.name == Metric.LIVING_SESSIONS}
    assert told == {None, *(status.value for status in Status)}


@pytest.mark.parametrize("stage", ["dev", "a" * 20])
def test_names_are_as_long_as_aws_has_them(stage: str) -> None:
    assert len(names.function(stage, "audit_consumer")) <= 64
    assert len(names.queue(stage, names.CLEANUP_DEAD_LETTERS)) <= 80
