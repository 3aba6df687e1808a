"""The panels are those of the template."""

import json
from typing import Any

import pytest

from local.dashboard.body import BodyError, Line, PanelMetric, panels
from local.streams.templates import Stack


def stack(*bodies: object) -> Stack:
    resources = {
        f"Board{number}": {"Type": "AWS::CloudWatch::Dashboard", "Properties": {"DashboardBody": body}}
        for number, body in enumerate(bodies)
    }
    return Stack(name="Dashboard", file="d.json", template={"Resources": resources})


def widget(**properties: Any) -> dict[str, Any]:
    return {"type": "metric", "x": 6, "y": 2, "width": 12, "height": 6, "properties": properties}


def body(*widgets: dict[str, Any]) -> str:
    return json.dumps({"widgets": widgets})


def test_a_panel_is_read_with_its_place_and_its_lines() -> None:
    rows = [
        [{"label": "rate", "expression": "100 * hits", "period": 60}],
        ["AWS/DAX", "Hits", "ClusterId", "c", {"label": "h", "id": "hits", "visible": False, "stat": "p99"}],
    ]
    left = {"label": "ms", "min": 0}
    limits = {"horizontal": [{"value": 5, "label": "alarm", "yAxis": "left"}]}
    properties = widget(title="Cache", metrics=rows, yAxis={"left": left}, annotations=limits)
    (panel,) = panels([stack(body(properties))], account="1")
    assert (panel.x, panel.y, panel.width, panel.height) == (6, 2, 12, 6)
    assert (panel.title, panel.unit, panel.limits[0].value) == ("Cache", "ms", 5.0)
    metric = PanelMetric(
        namespace="AWS/DAX",
        name="Hits",
        dimensions=frozenset({("ClusterId", "c")}),
        statistic="p99",
        period=300,
    )
    assert panel.lines == (
        Line(label="rate", of="100 * hits"),
        Line(label="h", of=metric, id="hits", is_visible=False),
    )


def test_omitted_properties_of_a_metric_have_cloudwatchs_defaults() -> None:
    (panel,) = panels([stack(body(widget(metrics=[["N", "M", {}]])))], account="1")
    assert isinstance(panel.lines[0].of, PanelMetric)
    assert (panel.lines[0].of.statistic, panel.lines[0].of.period) == ("Average", 300)


def test_an_alarm_is_identified_by_its_name_in_any_account() -> None:
    text = body(widget(alarms=["arn:PART:cloudwatch:us-east-1:ACCOUNT:alarm:late"]))
    before, between, after = parted(text)
    joined = {
        "Fn::Join": ["", [before, {"Ref": "AWS::Partition"}, between, {"Ref": "AWS::AccountId"}, after]]
    }
    (panel,) = panels([stack(joined)], account="000000000000")
    assert panel.alarms == ("late",)


def parted(text: str) -> tuple[str, str, str]:
    before, _, rest = text.partition("PART")
    between, _, after = rest.partition("ACCOUNT")
    return before, between, after


def test_a_reference_of_another_form_is_refused() -> None:
    with pytest.raises(BodyError, match="unsupported reference"):
        panels([stack({"Ref": "Function"})], account="1")


@pytest.mark.parametrize("bodies", [(), (body(), body())])
def test_no_dashboard_and_two_of_them_are_refused(bodies: tuple[str, ...]) -> None:
    with pytest.raises(BodyError, match=f"have {len(bodies)} dashboards"):
        panels([stack(*bodies)], account="1")
