"""Sources of metric values: the functions' logs and the emulator's own CloudWatch."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from local.dashboard import emf
from local.dashboard.body import PanelMetric
from local.dashboard.series import Series, aggregate
from local.deployment import STAGE
from session_store.metric_names import namespace_of

ClientFactory = Callable[[str], Any]
"""Creates the boto3 client of a service."""

MetricId = tuple[str, str, frozenset[tuple[str, str]]]
"""Namespace, name and dimensions of a metric."""

MAX_PAGES: Final = 1000

LOGGED_NAMESPACE: Final = namespace_of(STAGE)
"""The namespace of the metrics in the functions' logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The time shown, in epoch seconds; ``period``, if given, overrides the metrics' own."""

    start: float
    end: float
    period: int | None = None

    def period_of(self, metric: PanelMetric) -> int:
        return self.period or metric.period


class NoSourceError(LookupError):
    """The metric has no source here; the message says why."""


class Source(Protocol):
    def series(self, metric: PanelMetric, window: Window) -> Series:
        """Return a metric's values, possibly none.

        Raises:
            NoSourceError, UnsupportedError
        """

    def alarms(self) -> Mapping[str, str]:
        """Return the states of the alarms by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalStack:
    """The ``Source`` of a running stack, read once."""

    client: ClientFactory
    counted: emf.LogMetrics
    served: frozenset[MetricId] = field(default_factory=frozenset)
    """The metrics of the emulator's own CloudWatch."""

    @classmethod
    def read(cls, client: ClientFactory) -> "LocalStack":
        listed = _pages(client("cloudwatch"), "list_metrics", "Metrics")
        return cls(
            client=client,
            counted=emf.read_metrics(_log_lines(client("logs"))),
            served=frozenset(map(_metric_id, listed)),
        )

    @property
    def began(self) -> float | None:
        """The time of the first sample."""
        return min((sample.at for sample in self.counted.samples), default=None)

    def alarms(self) -> Mapping[str, str]:
        described = _pages(self.client("cloudwatch"), "describe_alarms", "MetricAlarms")
        return {alarm["AlarmName"]: alarm["StateValue"] for alarm in described}

    def series(self, metric: PanelMetric, window: Window) -> Series:
        period = window.period_of(metric)
        if metric.namespace == LOGGED_NAMESPACE:
            values = (
                (sample.at, sample.value)
                for sample in self.counted.samples
                if (sample.name, sample.dimensions) == (metric.name, metric.dimensions)
                and window.start <= sample.at <= window.end
            )
            return aggregate(values, statistic=metric.statistic, period=period)
        if (metric.namespace, metric.name, metric.dimensions) not in self.served:
            raise NoSourceError(self._reason_for_absence(metric))
        return self._served(metric, window, period=period)

    def _reason_for_absence(self, metric: PanelMetric) -> str:
        """Say why a metric is missing, in the same words for a whole namespace without metrics."""
        names = {name for namespace, name, _ in self.served if namespace == metric.namespace}
        if metric.name in names:
            return f"the emulator has {metric.namespace} {metric.name} for other dimensions only"
        if names:
            return f"the emulator has no metric {metric.namespace} {metric.name}"
        return f"the emulator has no metrics in {metric.namespace}"

    def _served(self, metric: PanelMetric, window: Window, *, period: int) -> Series:
        identity = {
            "Namespace": metric.namespace,
            "MetricName": metric.name,
            "Dimensions": [{"Name": name, "Value": value} for name, value in sorted(metric.dimensions)],
        }
        query = {
            "Id": "values",
            "MetricStat": {"Metric": identity, "Period": period, "Stat": metric.statistic},
        }
        (result,) = self.client("cloudwatch").get_metric_data(
            MetricDataQueries=[query],
            StartTime=datetime.fromtimestamp(window.start, UTC),
            EndTime=datetime.fromtimestamp(window.end, UTC),
        )["MetricDataResults"]
        pairs = zip(result["Timestamps"], result["Values"], strict=True)
        return dict(sorted((at.timestamp(), float(value)) for at, value in pairs))


def _metric_id(listed: Mapping[str, Any]) -> MetricId:
    dimensions = frozenset((each["Name"], each["Value"]) for each in listed["Dimensions"])
    return listed["Namespace"], listed["MetricName"], dimensions


def _log_lines(logs: Any) -> Iterator[str]:  # noqa: ANN401 - a boto3 client
    for group in _pages(logs, "describe_log_groups", "logGroups"):
        for event in _pages(logs, "filter_log_events", "events", logGroupName=group["logGroupName"]):
            yield event["message"]


def _pages(client: Any, operation: str, items: str, **arguments: object) -> Iterator[Any]:  # noqa: ANN401 - a boto3 client
    pages = client.get_paginator(operation).paginate(**arguments)
    for _, page in zip(range(MAX_PAGES), pages, strict=False):
        yield from page[items]
