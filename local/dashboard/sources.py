"""Where values come from here: the functions' logs, and what the emulator's own CloudWatch counts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from local.dashboard import emf
from local.dashboard.body import Metric
from local.dashboard.series import Series, aggregate
from local.deployment import STAGE
from session_store.metric_names import namespace_of

ClientFactory = Callable[[str], Any]
"""Makes the client of a service."""

Named = tuple[str, str, frozenset[tuple[str, str]]]
"""Namespace, name and dimensions of a metric."""

MAX_PAGES: Final = 1000

COUNTED: Final = namespace_of(STAGE)
"""What the functions count themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """In epoch seconds; ``period`` takes the place of a metric's own where it is given."""

    start: float
    end: float
    period: int | None = None

    def period_of(self, metric: Metric) -> int:
        return self.period or metric.period


class NoSourceError(LookupError):
    """Nothing here has such a metric; the message says why."""


class Source(Protocol):
    def series(self, metric: Metric, window: Window) -> Series:
        """Empty where nothing was counted. Raises ``NoSourceError``, ``UnsupportedError``."""

    def alarms(self) -> Mapping[str, str]:
        """The states of the alarms, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalStack:
    """``Source`` of a running stack, as it was when this was made."""

    client: ClientFactory
    counted: emf.Counted
    served: frozenset[Named] = field(default_factory=frozenset)
    """What the emulator's own CloudWatch has."""

    @classmethod
    def read(cls, client: ClientFactory) -> "LocalStack":
        listed = _pages(client("cloudwatch"), "list_metrics", "Metrics")
        return cls(
            client=client,
            counted=emf.read(_log_lines(client("logs"))),
            served=frozenset(map(_named, listed)),
        )

    @property
    def began(self) -> float | None:
        """When the first thing was counted."""
        return min((sample.at for sample in self.counted.samples), default=None)

    def alarms(self) -> Mapping[str, str]:
        described = _pages(self.client("cloudwatch"), "describe_alarms", "MetricAlarms")
        return {alarm["AlarmName"]: alarm["StateValue"] for alarm in described}

    def series(self, metric: Metric, window: Window) -> Series:
        period = window.period_of(metric)
        if metric.namespace == COUNTED:
            values = (
                (sample.at, sample.value)
                for sample in self.counted.samples
                if (sample.name, sample.dimensions) == (metric.name, metric.dimensions)
                and window.start <= sample.at <= window.end
            )
            return aggregate(values, statistic=metric.statistic, period=period)
        if (metric.namespace, metric.name, metric.dimensions) not in self.served:
            raise NoSourceError(self._absence(metric))
        return self._served(metric, window, period=period)

    def _absence(self, metric: Metric) -> str:
        """The namespace alone, where the emulator counts nothing in it: one reason for a whole panel."""
        names = {name for namespace, name, _ in self.served if namespace == metric.namespace}
        if metric.name in names:
            return (
                f"the emulator counts {metric.namespace} {metric.name} of some, not of all that belong here"
            )
        return f"the emulator counts no {metric.namespace}{f' {metric.name}' if names else ''}"

    def _served(self, metric: Metric, window: Window, *, period: int) -> Series:
        asked = {
            "Namespace": metric.namespace,
            "MetricName": metric.name,
            "Dimensions": [{"Name": name, "Value": value} for name, value in sorted(metric.dimensions)],
        }
        query = {
            "Id": "asked",
            "MetricStat": {"Metric": asked, "Period": period, "Stat": metric.statistic},
        }
        (result,) = self.client("cloudwatch").get_metric_data(
            MetricDataQueries=[query],
            StartTime=datetime.fromtimestamp(window.start, UTC),
            EndTime=datetime.fromtimestamp(window.end, UTC),
        )["MetricDataResults"]
        pairs = zip(result["Timestamps"], result["Values"], strict=True)
        return dict(sorted((at.timestamp(), float(value)) for at, value in pairs))


def _named(listed: Mapping[str, Any]) -> Named:
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
