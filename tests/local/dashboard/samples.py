"""Panels and a source for the tests of the dashboard."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from local.dashboard.body import Line, Panel, PanelMetric
from local.dashboard.series import Series
from local.dashboard.sources import NoSourceError, Window

WINDOW = Window(start=0, end=600, period=60)
COUNTS = {60.0: 2.0, 120.0: 5.0}


def metric(name: str, *, namespace: str = "SessionStore/local", **changes: Any) -> PanelMetric:
    plain: dict[str, Any] = {"dimensions": frozenset({("service", "session-api")}), "statistic": "Sum"}
    return PanelMetric(namespace=namespace, name=name, **{**plain, "period": 60, **changes})


def panel(*lines: Line, **changes: Any) -> Panel:
    plain: dict[str, Any] = {"x": 0, "y": 0, "width": 6, "height": 6, "title": "Requests"}
    return Panel(**{**plain, "lines": lines, **changes})


@dataclass(frozen=True, slots=True)
class FixedSource:
    """Has the given series, by metric name, and no other."""

    series_by_name: Mapping[str, Series] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)

    def series(self, metric: PanelMetric, _window: Window) -> Series:
        if metric.name not in self.series_by_name:
            raise NoSourceError(f"the emulator has no metrics in {metric.namespace} {metric.name}")
        return self.series_by_name[metric.name]

    def alarms(self) -> Mapping[str, str]:
        return self.states
