"""Values come from the functions' logs and from the metrics of the emulator's CloudWatch."""

from datetime import UTC, datetime
from typing import Any

import pytest

from local.dashboard.emf import LogMetrics, Sample
from local.dashboard.sources import LocalStack, NoSourceError, Window
from tests.local.dashboard.samples import metric

SERVED = frozenset({("AWS/Lambda", "Invocations", metric("Invocations").dimensions)})


def sample(at: float, value: float, *, service: str = "session-api") -> Sample:
    return Sample(
        namespace="SessionStore/local",
        name="Served",
        dimensions=frozenset({("service", service)}),
        at=at,
        value=value,
    )


class Watching:
    """A CloudWatch that records the query and answers it."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def get_metric_data(self, **request: Any) -> Any:
        self.asked.append(request)
        times = [datetime.fromtimestamp(at, UTC) for at in (120, 60)]
        return {"MetricDataResults": [{"Timestamps": times, "Values": [5, 2]}]}


def stack(*samples: Sample, cloudwatch: object = None) -> LocalStack:
    counted = LogMetrics(samples=samples, unreadable=0)
    return LocalStack(client=lambda _service: cloudwatch, counted=counted, served=SERVED)


def test_only_samples_in_the_time_shown_count() -> None:
    source = stack(*(sample(at, 1) for at in (59, 60, 180, 181)))
    assert source.series(metric("Served"), Window(start=60, end=180)) == {60: 1, 180: 1}


def test_another_function_counts_for_itself() -> None:
    source = stack(sample(60, 1), sample(60, 7, service="expiry-watch"))
    assert source.series(metric("Served"), Window(start=0, end=99)) == {60: 1}


def test_a_period_of_the_page_takes_the_place_of_the_panel_s_own() -> None:
    source = stack(sample(60, 1), sample(75, 2))
    assert source.series(metric("Served"), Window(start=0, end=99)) == {60: 3}
    assert source.series(metric("Served"), Window(start=0, end=99, period=10)) == {60: 1, 70: 2}


def test_metrics_that_the_emulator_lists_are_read_from_it() -> None:
    watching = Watching()
    wanted = metric("Invocations", namespace="AWS/Lambda", statistic="p99")
    series = stack(cloudwatch=watching).series(wanted, Window(start=0, end=300))
    assert list(series.items()) == [(60, 2), (120, 5)]
    ((query,),) = (each["MetricDataQueries"] for each in watching.asked)
    assert (query["MetricStat"]["Period"], query["MetricStat"]["Stat"]) == (60, "p99")
    assert query["MetricStat"]["Metric"]["Dimensions"] == [{"Name": "service", "Value": "session-api"}]


@pytest.mark.parametrize(
    ("namespace", "reason"),
    [
        ("AWS/DynamoDB", "the emulator has no metrics in AWS/DynamoDB"),
        ("AWS/Lambda", "the emulator has no metric AWS/Lambda Missing"),
    ],
)
def test_metrics_that_it_does_not_list_have_no_source(namespace: str, reason: str) -> None:
    with pytest.raises(NoSourceError) as caught:
        stack().series(metric("Missing", namespace=namespace), Window(start=0, end=1))
    assert caught.value.args == (reason,)


def test_metrics_listed_for_other_dimensions_have_no_source() -> None:
    elsewhere = metric("Invocations", namespace="AWS/Lambda", dimensions=frozenset({("service", "other")}))
    with pytest.raises(NoSourceError, match="Invocations for other dimensions only"):
        stack().series(elsewhere, Window(start=0, end=1))


def test_it_began_with_the_first_thing_that_was_counted() -> None:
    assert stack(sample(90, 1), sample(60, 1)).began == 60
    assert stack().began is None
