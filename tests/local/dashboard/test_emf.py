"""Which lines of a log are metrics."""

import io
import json
from typing import Any

import pytest
from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit

from local.dashboard.emf import read_metrics


def line(**changes: Any) -> dict[str, Any]:
    metric = {
        "Namespace": "SessionStore/local",
        "Dimensions": [["service"]],
        "Metrics": [{"Name": "Served", "Unit": "Count"}],
    }
    document = {"Timestamp": 1_796_049_962_013, "CloudWatchMetrics": [metric]}
    return {"_aws": document, "service": "session-api", "Served": [1.0, 2.0], **changes}


def test_each_value_is_a_sample_at_its_time() -> None:
    counted = read_metrics([json.dumps(line())])
    assert [(each.name, each.value, each.at) for each in counted.samples] == [
        ("Served", 1.0, 1_796_049_962.013),
        ("Served", 2.0, 1_796_049_962.013),
    ]
    assert {each.dimensions for each in counted.samples} == {frozenset({("service", "session-api")})}


def test_a_value_need_not_be_a_list() -> None:
    assert [each.value for each in read_metrics([json.dumps(line(Served=3))]).samples] == [3.0]


def test_each_set_of_dimensions_is_a_metric_of_its_own() -> None:
    document = line(status="active")
    document["_aws"]["CloudWatchMetrics"][0]["Dimensions"] = [["service"], ["service", "status"]]
    assert [len(each.dimensions) for each in read_metrics([json.dumps(document)]).samples] == [1, 1, 2, 2]


def test_lines_written_by_powertools_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = Metrics(namespace="SessionStore/local", service="session-api")
    metrics.add_metric(name="Served", unit=MetricUnit.Count, value=4)
    metrics.flush_metrics()
    (sample,) = read_metrics(io.StringIO(capsys.readouterr().out)).samples
    assert (sample.namespace, sample.name, sample.value) == ("SessionStore/local", "Served", 4.0)
    assert sample.dimensions == {("service", "session-api")}


@pytest.mark.parametrize(
    "other", ["START RequestId: 05bb3918", "", '{"level": "INFO", "message": "served"}', "{", "[1]"]
)
def test_other_lines_of_the_log_count_nothing(other: str) -> None:
    counted = read_metrics([other])
    assert (counted.samples, counted.unreadable) == ((), 0)


@pytest.mark.parametrize(
    "broken",
    [
        json.dumps(line())[:-5],
        '{"_aws": 5}',
        '{"_aws": {"Timestamp": 1}}',
        '["_aws"]',
        json.dumps(line(Served="many")),
        json.dumps(line(Served=[None])),
        json.dumps({name: value for name, value in line().items() if name != "Served"}),
        json.dumps({name: value for name, value in line().items() if name != "service"}),
    ],
)
def test_a_malformed_line_is_counted_and_harms_no_other(broken: str) -> None:
    counted = read_metrics([broken, json.dumps(line())])
    assert (len(counted.samples), counted.unreadable) == (2, 1)


def test_a_line_that_breaks_half_way_counts_nothing() -> None:
    assert read_metrics([json.dumps(line(Served=[1.0, "x"]))]).samples == ()
