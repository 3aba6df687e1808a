"""Requests, errors, problems by kind, latency by route."""

from collections.abc import Iterator
from typing import Final

from infra.api.authorizer import PACKAGE as AUTHORIZER
from infra.api.routes import routes
from infra.dashboard.metrics import Counted, counted, of_api, of_route
from infra.dashboard.panels import TALL, Row, graph
from infra.dashboard.watched import Watched
from session_store.metric_names import Metric

PROBLEMS: Final[tuple[Counted, ...]] = (
    ("session_api", Metric.REFUSED),
    ("session_api", Metric.CONFLICTS),
    ("session_api", Metric.THROTTLED),
    ("session_api", Metric.OUTCOME_UNKNOWN),
    ("session_api", Metric.PAYLOAD_MISSING),
    ("session_api", Metric.INTERNAL_ERROR),
)
TOKENS: Final[tuple[Counted, ...]] = (
    (AUTHORIZER, Metric.TOKENS_ACCEPTED),
    (AUTHORIZER, Metric.TOKENS_REFUSED),
    (AUTHORIZER, Metric.ISSUER_UNAVAILABLE),
    (AUTHORIZER, Metric.AUTHORIZER_CRASHED),
)
PERCENTILES: Final = ("p50", "p90", "p99")


def traffic(watched: Watched) -> Iterator[Row]:
    yield [
        graph(
            watched,
            "Requests",
            [of_api(watched, "Count", "Sum", label="all"), counted(watched, "session_api", Metric.SERVED)],
        ),
        graph(watched, "Errors", [of_api(watched, name, "Sum") for name in ("4XXError", "5XXError")]),
        graph(watched, "Problems by kind", [counted(watched, *each) for each in PROBLEMS]),
        graph(
            watched,
            "Latency",
            [of_api(watched, "Latency", each, label=each) for each in PERCENTILES],
            unit="ms",
        ),
    ]
    if AUTHORIZER in watched.packages:
        yield [graph(watched, "Tokens", [counted(watched, *each) for each in TOKENS])]
    if watched.config.route_metrics:
        yield [
            graph(
                watched,
                f"Latency by route, {percentile}",
                [of_route(watched, route, "Latency", percentile) for route in routes()],
                unit="ms",
                width=8,
                height=TALL,
            )
            for percentile in PERCENTILES
        ]
