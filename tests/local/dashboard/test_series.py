"""Statistics by period, and the metric math that the dashboard uses."""

import pytest

from local.dashboard.series import UnsupportedError, aggregate, evaluate, fill_zeros, overall

VALUES = [(60.0, 1.0), (61.0, 3.0), (119.9, 8.0), (180.0, 5.0)]


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("Sum", {60: 12, 180: 5}),
        ("Average", {60: 4, 180: 5}),
        ("Maximum", {60: 8, 180: 5}),
        ("p50", {60: 3, 180: 5}),
        ("p99", {60: 8, 180: 5}),
        ("p0", {60: 1, 180: 5}),
    ],
)
def test_a_statistic_is_taken_period_by_period(statistic: str, expected: dict[float, float]) -> None:
    assert aggregate(VALUES, statistic=statistic, period=60) == expected


def test_a_percentile_is_a_value_that_was_measured() -> None:
    hundred = [(0.0, float(value)) for value in range(100, 0, -1)]
    for percentile in (1, 50, 90, 99):
        assert aggregate(hundred, statistic=f"p{percentile}", period=60) == {0: percentile}


def test_periods_are_in_the_order_of_time() -> None:
    assert list(aggregate(reversed(VALUES), statistic="Sum", period=60)) == [60, 180]


@pytest.mark.parametrize("statistic", ["p101", "p99.9", "SampleCount", "TM(10%:90%)", "sum", "IQM"])
def test_a_statistic_that_is_not_known_is_named(statistic: str) -> None:
    with pytest.raises(UnsupportedError, match=r"the statistic ") as caught:
        aggregate(VALUES, statistic=statistic, period=60)
    assert statistic in str(caught.value)


def test_where_nothing_was_counted_a_count_is_zero() -> None:
    assert fill_zeros({120: 5.0}, period=60, start=75, end=185) == {60: 0, 120: 5, 180: 0}
    assert fill_zeros({120: 5.0}, period=60, start=60, end=180) == {60: 0, 120: 5}


def test_a_line_in_one_number_is_all_that_was_counted_or_the_highest() -> None:
    assert [overall([1, 5, 2], statistic=each) for each in ("Sum", "p99", "")] == [8, 5, 5]


HITS = {60.0: 3.0, 120.0: 1.0, 180.0: 0.0}
MISSES = {60.0: 1.0, 180.0: 0.0}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("hits", HITS),
        ("hits + misses", {60: 4, 180: 0}),
        ("hits + misses * 2", {60: 5, 180: 0}),
        ("100 * hits / (hits + misses)", {60: 75}),
        ("100 * FILL(hits, 0) / (FILL(hits, 0) + FILL(misses, 0))", {60: 75, 120: 100}),
        ("7", {60: 7, 120: 7, 180: 7}),
    ],
)
def test_an_expression_has_a_value_where_its_parts_have(
    expression: str, expected: dict[float, float]
) -> None:
    assert evaluate(expression, by_id={"hits": HITS, "misses": MISSES}) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "SEARCH('{AWS/Lambda} Errors', 'Sum')",
        "RATE(hits)",
        "hits > 1",
        "hits **",
        "hits ** 2",
        "unknown",
        "hits - 1",
        "SUM([hits])",
        "__import__('os')",
        "hits.real",
        "FILL(hits, REPEAT)",
    ],
)
def test_an_expression_of_another_form_is_refused(expression: str) -> None:
    with pytest.raises(UnsupportedError, match="the expression "):
        evaluate(expression, by_id={"hits": HITS})
