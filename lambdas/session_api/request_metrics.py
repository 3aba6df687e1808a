"""What the API counts: one EMF line a request, with each metric that the request adds to."""

from collections.abc import Mapping
from typing import Final

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit
from msgspec import Struct

from session_api import problems
from session_api.operations import Operation, Reply
from session_api.problems import Problem
from session_api.session_answers import SessionAnswer
from session_store.metric_names import Metric, Property

LARGE_SESSION_BYTES: Final = 64 * 1024
"""Size of a session's answer from which a metric warns that its item approaches DynamoDB's limit."""

PROBLEM_METRICS: Final[Mapping[Problem, Metric]] = {
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
"""The metric that a refusal adds to beside ``Refused``. A success adds to what its operation declares."""


class RequestMetrics(Struct, frozen=True, kw_only=True):
    """Metrics of one function. Operation, status and duration are properties of the line, not dimensions.

    Logs Insights finds a property, which costs its bytes; a dimension would multiply every metric by the
    number of operations, each at CloudWatch's price for a custom metric.
    """

    metrics: Metrics

    def count_success(self, operation: Operation, reply: Reply, *, size: int) -> None:
        """``size``: bytes of the response body."""
        self._add(Metric.SERVED)
        if isinstance(reply.value, SessionAnswer) and size >= LARGE_SESSION_BYTES:
            self._add(Metric.LARGE_SESSION)
        if operation.counts is not None and reply.performed:
            self._add(operation.counts, reply.performed)
        for metric, count in reply.also_performed.items():
            self._add(metric, count)
        if reply.replayed:
            self._add(Metric.REPLAYS, reply.replayed)

    def count_refusal(self, problem: Problem) -> None:
        self._add(Metric.REFUSED)
        if problem in PROBLEM_METRICS:
            self._add(PROBLEM_METRICS[problem])

    def count_crash(self) -> None:
        self._add(Metric.INTERNAL_ERROR)

    def describe(self, operation: str, *, status: int, seconds: float) -> None:
        """Add to the line which operation was answered with which status, and how long it took."""
        self.metrics.add_metadata(Property.OPERATION, operation)
        self.metrics.add_metadata(Property.STATUS, status)
        self.metrics.add_metadata(Property.DURATION_MS, round(seconds * 1000, 3))

    def _add(self, metric: Metric, count: int = 1) -> None:
        self.metrics.add_metric(name=metric, unit=MetricUnit.Count, value=count)
