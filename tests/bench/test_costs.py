"""What is priced, and how: the arithmetic, and that nothing the API does is left out."""

import pytest

from bench import costs, lives, task_workload, workload
from bench.fixed_costs import ENTRY_BYTES, Fixed, census, runs_of
from bench.fixed_costs import fixed_costs as of
from bench.lives import Row
from bench.prices import MILLION, PRICES, Meter, Usage, break_even_hits, total
from bench.spending import (
    OWN_SECONDS,
    PLATFORM_LOG_BYTES,
    RECORDS_A_BATCH,
    ROUND_TRIP_SECONDS,
    Spent,
    item_bytes,
    read_units,
)
from session_api import resolver
from session_api.operations import OPERATIONS
from session_store.domain.session import Status
from session_store.metric_names import Metric


def test_every_meter_has_a_price() -> None:
    assert set(PRICES) == set(Meter)


def test_dollars_are_amounts_times_prices() -> None:
    usage = Usage({Meter.WRITE: 2 * MILLION, Meter.CALL: MILLION, Meter.ALARM: 7})
    assert usage.dollars() == pytest.approx(2 * 0.625 + 3.5 + 0.7)
    assert usage.dollars(Meter.WRITE, Meter.READ) == pytest.approx(1.25)


def test_usages_add_up_and_multiply() -> None:
    one = Usage({Meter.WRITE: 1.0, Meter.READ: 2.0})
    assert total([one, one * 2, Usage({Meter.EVENT: 1.0})]).amounts == {
        Meter.WRITE: 3.0,
        Meter.READ: 6.0,
        Meter.EVENT: 1.0,
    }


def test_a_request_is_billed_for_its_units_its_time_and_its_lines() -> None:
    spent = Spent(
        reads=1.5,
        round_trips=2,
        messages=1,
        events=1,
        object_writes=3,
        object_reads=4,
        log_bytes=200,
        invocations=1,
    )
    spent.writes.update({"sessions": 2, "owner-index": 1})
    assert spent.usage().amounts == {
        Meter.WRITE: 3.0,
        Meter.READ: 1.5,
        Meter.INVOCATION: 1.0,
        Meter.GB_SECOND: OWN_SECONDS + 2 * ROUND_TRIP_SECONDS,
        Meter.QUEUE: 1,
        Meter.EVENT: 1,
        Meter.OBJECT_WRITE: 3,
        Meter.OBJECT_READ: 4,
        Meter.LOG_GB: (200 + PLATFORM_LOG_BYTES) / 1e9,
    }


def test_records_of_the_stream_share_a_batch() -> None:
    usage = Spent(invocations=1, records=1, round_trips=1, log_bytes=300).usage()
    assert usage.of(Meter.INVOCATION) == 1 / RECORDS_A_BATCH
    assert usage.of(Meter.GB_SECOND) == pytest.approx(OWN_SECONDS / RECORDS_A_BATCH + ROUND_TRIP_SECONDS)
    assert usage.of(Meter.LOG_GB) == pytest.approx((300 + PLATFORM_LOG_BYTES) / RECORDS_A_BATCH / 1e9)


def test_what_is_spent_adds_up() -> None:
    one = Spent(reads=1, round_trips=2, messages=3, events=4, log_bytes=5, invocations=6, records=7)
    one.object_writes, one.object_reads = 9, 10
    one.writes["audit"] = 8
    both = one + one
    assert both.writes == {"audit": 16}
    assert (both.object_writes, both.object_reads) == (18, 20)
    assert (both.reads, both.round_trips, both.messages, both.events) == (2, 4, 6, 8)
    assert (both.log_bytes, both.invocations, both.records) == (10, 12, 14)


def test_a_call_is_paid_for_at_the_edge_and_what_follows_it_is_not() -> None:
    row = Row("two calls", Spent(), Usage({Meter.WRITE: 3.0}), calls=2, stored=Usage({Meter.STORED: 1.0}))
    assert row.usage.of(Meter.CALL) == 2
    assert row.usage.of(Meter.TRACE) == 2 * lives.TRACED
    assert row.usage.of(Meter.WRITE) == 3.0
    assert row.usage.of(Meter.STORED) == 1.0


def test_an_item_is_as_large_as_its_names_and_values() -> None:
    assert item_bytes({"pk": {"S": "sé"}}) == 2 + 3
    assert item_bytes({"n": {"N": "-1200.5"}}) == 1 + 5
    assert item_bytes({"n": {"N": "1000"}}) == 1 + 2
    assert item_bytes({"l": {"L": [{"BOOL": True}, {"NULL": True}]}}) == 1 + 3 + 2 * (1 + 1)
    assert item_bytes({"m": {"M": {"k": {"S": "v"}}}}) == 1 + 3 + 1 + (1 + 1)


@pytest.mark.parametrize(
    ("lengths", "consistent", "units"),
    [
        ([], True, 1.0),
        ([], False, 0.5),
        ([4000] * 2, True, 2.0),
        ([4000] * 2, False, 1.0),
        ([100] * 40, True, 1.0),
    ],
)
def test_a_query_reads_the_sum_of_its_items_in_steps_of_four_kilobytes(
    lengths: list[int], *, consistent: bool, units: float
) -> None:
    items = [{"pk": {"S": "x" * (length - 2)}} for length in lengths]
    assert read_units(items, consistent=consistent) == units


def test_three_small_nodes_pay_for_themselves_above_some_five_hundred_hits_a_second() -> None:
    assert break_even_hits(nodes=3, units_a_read=0.5) == pytest.approx(533.33, abs=0.01)
    assert break_even_hits(nodes=3, units_a_read=1) == pytest.approx(266.67, abs=0.01)


def test_every_operation_of_the_api_is_priced() -> None:
    assert resolver.ROUTES
    requests = [
        workload.CREATE,
        *workload.WRITES,
        *workload.READS,
        *workload.CHECKPOINT_READS,
        workload.DRAIN,
        workload.DELETE,
    ]
    priced = {request.operation for request in requests}
    priced |= {step.operation for step in task_workload.STEPS}
    assert priced.isdisjoint(workload.NOT_PRICED)
    assert priced | workload.NOT_PRICED == {operation.name for operation in OPERATIONS}


def test_schedules_run_so_often_a_month() -> None:
    assert runs_of("rate(1 minute)") == 43_800
    assert runs_of("rate(15 minutes)") == 2_920
    assert runs_of("rate(1 day)") == pytest.approx(30.42, abs=0.01)
    assert runs_of("cron(0 3 * * ? *)") == runs_of("rate(1 day)")


def resource(kind: str, **properties: object) -> dict[str, object]:
    return {"Type": kind, "Properties": properties}


def test_what_stands_in_the_templates_is_counted_and_priced() -> None:
    metric: dict[str, object] = {"MetricStat": {}}
    templates = [
        resource("AWS::ApiGateway::RestApi"),
        resource("AWS::ApiGateway::Stage", MethodSettings=[{"MetricsEnabled": True}]),
        resource("AWS::ApiGateway::Method"),
        resource("AWS::CloudWatch::Alarm"),
        resource("AWS::CloudWatch::Alarm", Metrics=[metric, metric, {"Expression": "m1 / m2"}]),
        resource("AWS::CloudWatch::Dashboard"),
        resource("AWS::KMS::Key"),
        resource("AWS::KMS::ReplicaKey"),
        resource("AWS::WAFv2::WebACL", Rules=[{}, {}]),
        resource("AWS::DAX::Cluster", ReplicationFactor=3),
        resource("AWS::EC2::NatGateway"),
        resource("AWS::EC2::VPCEndpoint", VpcEndpointType="Interface", SubnetIds=["a", "b"]),
        resource("AWS::EC2::VPCEndpoint", VpcEndpointType="Gateway"),
        resource("AWS::Events::Rule", ScheduleExpression="rate(1 minute)"),
        resource("AWS::Events::Rule", EventPattern={}),
        resource("AWS::Lambda::EventSourceMapping", StartingPosition="TRIM_HORIZON"),
        resource("AWS::Lambda::EventSourceMapping"),
        resource("AWS::Lambda::Function", Handler="session_api.handler.handler"),
        resource("AWS::Lambda::Function", Handler="session_census.handler.handler"),
        resource("AWS::Lambda::Function", Handler="index.handler"),
    ]
    counted = {fixed.name: fixed for fixed in of(templates, a_run=Usage({Meter.INVOCATION: 1}))}
    dollars = {name: round(fixed.usage.dollars(), 2) for name, fixed in counted.items()}
    assert dollars == {
        "alarms": 0.30,
        "function metrics, at most": round(0.30 * (len(Metric) + len(Status) + 2), 2),
        "route metrics, at most": 1.50,
        "dashboards": 3.00,
        "keys": 2.00,
        "web ACLs": 5.00,
        "web ACL rules": 2.00,
        "DAX nodes": 87.60,
        "NAT gateways": 32.85,
        "interface endpoints, per zone": 14.60,
        "scheduled runs": 0.01,
        "polls of idle queues": 0.26,
    }


def test_without_a_census_no_living_sessions_are_paid_for() -> None:
    templates = [resource("AWS::ApiGateway::RestApi")]
    counted = {fixed.name: fixed.count for fixed in of(templates, a_run=Usage())}
    assert counted["function metrics, at most"] == len(Metric) - 1


def test_an_hourly_census_of_a_million_sessions_costs_some_two_dollars() -> None:
    hourly = census(minutes=60, living=MILLION)
    assert hourly.of(Meter.READ) == 730 * MILLION * ENTRY_BYTES / 8192
    assert hourly.dollars() == pytest.approx(2.15, abs=0.005)


def test_routes_that_are_not_measured_cost_nothing() -> None:
    templates = [resource("AWS::ApiGateway::Stage"), resource("AWS::ApiGateway::Method")]
    counted = {fixed.name: fixed.count for fixed in of(templates, a_run=Usage())}
    assert counted["route metrics, at most"] == 0


def test_the_page_shows_each_row_with_its_dollars_for_a_million() -> None:
    api = Spent(reads=1, round_trips=1, invocations=1)
    api.writes["sessions"] = 2
    life = Row(lives.LIFE, api, Usage({Meter.WRITE: 1.5}), calls=37)
    deployments = {"dev": [Fixed(name="alarms", count=7, usage=Usage({Meter.ALARM: 7}))]}
    text = costs.page([Row("read", api, Usage())], [life], deployments)
    assert "| read | 1 | 1 | 2 | 0 | 0 | 0 | 0 | 0 |" in text
    assert f"| {lives.LIFE} | 1 | 1 | 2 | 0 | 0 | 0 | 0 | 1.5 |" in text
    assert "| read | 1.25 | 0.12 | 3.50 |" in text
    assert f"A million sessions of 37 calls each cost about **${life.usage.dollars() * MILLION:.0f}**" in text
    assert "| alarms | 7: $0.70 |" in text
    assert "| **all** | **$0.70** |" in text
    assert f"| {Meter.CALL} | $3.5 | 1,000,000 |" in text
