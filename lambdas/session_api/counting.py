"""What the API counts: one EMF line a request, with as many metrics as the request has something to say."""

from collections.abc import Mapping
from typing import Final

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit
from msgspec import Struct

from session_api import problems
from session_api.answers import SessionAnswer
from session_api.operations import Operation, Reply
from session_api.problems import Problem
from session_store.metric_names import Metric, Property

LARGE_SESSION: Final = 64 * 1024
"""Bytes of a session's answer from which a metric warns that its item is on the way to the limit."""

OF_PROBLEMS: Final[Mapping[Problem, Metric]] = {
    problems.VERSION_CONFLICT: Metric.CONFLICTS,
    problems.CONTENT_CONFLICT: Metric.CONFLICTS,
    problems.MISMATCH: Metric.CONFLICTS,
    problems.INVALID_TRANSITION: Metric.CONFLICTS,
    problems.UNEXPECTED_VERSION: Metric.CONFLICTS,
    problems.ALREADY_DECIDED: Metric.CONFLICTS,
    problems.FENCED: Metric.CONFLICTS,
    problems.PAYLOAD_MISSING: Metric.PAYLOAD_MISSING,
    problems.THROTTLED: Metric.THROTTLED,
    problems.OUTCOME_UNKNOWN: Metric.OUTCOME_UNKNOWN,
}
"""What a refusal adds to beside ``Refused``. What an operation adds to is said where it is declared."""


class Counting(Struct, frozen=True, kw_only=True):
    """Metrics of one function. Operation, status and time are properties of the line, not dimensions.

    A property is found by Logs Insights and costs its bytes; a dimension would make every metric one more
    for each operation, each at CloudWatch's price for a custom metric.
    """

    metrics: Metrics

    def served(self, operation: Operation, reply: Reply, *, size: int) -> None:
        """``size``: bytes of the answer's body."""
        self._add(Metric.SERVED)
        if isinstance(reply.value, SessionAnswer) and size >= LARGE_SESSION:
            self._add(Metric.LARGE_SESSION)
        if operation.counts is not None and reply.done:
            self._add(operation.counts, reply.done)
        for metric, count in reply.beside.items():
            self._add(metric, count)
        if reply.replayed:
            self._add(Metric.REPLAYS, reply.replayed)

    def refused(self, problem: Problem) -> None:
        self._add(Metric.REFUSED)
        if problem in OF_PROBLEMS:
            self._add(OF_PROBLEMS[problem])

    def crashed(self) -> None:
        self._add(Metric.INTERNAL_ERROR)

    def answered(self, operation: str, *, status: int, seconds: float) -> None:
        """What took how long; of every request, whatever came of it."""
        self.metrics.add_metadata(Property.OPERATION, operation)
        self.metrics.add_metadata(Property.STATUS, status)
        self.metrics.add_metadata(Property.DURATION_MS, round(seconds * 1000, 3))

    def _add(self, metric: Metric, count: int = 1) -> None:
        self.metrics.add_metric(name=metric, unit=MetricUnit.Count, value=count)
