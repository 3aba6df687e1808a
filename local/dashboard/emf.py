"""Metrics in the functions' logs, in CloudWatch's embedded metric format (EMF)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

MARK: Final = '"_aws"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]
    at: float
    """Epoch seconds."""
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMetrics:
    samples: tuple[Sample, ...]
    unreadable: int
    """Lines marked as metrics that could not be parsed."""


def read_metrics(lines: Iterable[str]) -> LogMetrics:
    """Read the metrics in lines of a log; other lines are ignored."""
    samples: list[Sample] = []
    unreadable = 0
    for line in lines:
        if MARK not in line:
            continue
        try:
            # All samples of a line or none.
            samples.extend(tuple(_samples(json.loads(line))))
        except (AttributeError, KeyError, TypeError, ValueError):
            # Malformed: CloudWatch ignores such a line too.
            unreadable += 1
    return LogMetrics(samples=tuple(samples), unreadable=unreadable)


def _samples(line: Mapping[str, Any]) -> Iterator[Sample]:
    aws = line["_aws"]
    for directive in aws["CloudWatchMetrics"]:
        for names in directive["Dimensions"]:
            dimensions = frozenset((name, str(line[name])) for name in names)
            for metric in directive["Metrics"]:
                values = line[metric["Name"]]
                for value in values if isinstance(values, list) else [values]:
                    yield Sample(
                        namespace=directive["Namespace"],
                        name=metric["Name"],
                        dimensions=dimensions,
                        at=float(aws["Timestamp"]) / 1000,
                        value=float(value),
                    )
