"""The stream consumer, the clean-up of sessions, and dead letters."""

from collections.abc import Iterator
from typing import Final

from infra import names
from infra.audit_consumer import LATE
from infra.dashboard.metrics import Counted, counted, of_function, of_queue
from infra.dashboard.panels import Row, graph
from infra.dashboard.watched import Watched
from session_store.metric_names import Metric

RECORDS: Final[tuple[Counted, ...]] = (
    ("audit_consumer", Metric.AUDITED),
    ("audit_consumer", Metric.QUARANTINED),
    ("audit_consumer", Metric.FAILED),
)
CLEANUPS: Final[tuple[Counted, ...]] = (
    ("expiry_cleanup", Metric.CLEANED_UP),
    ("expiry_cleanup", Metric.CLEANUP_FAILED),
    ("expiry_cleanup", Metric.CHILDREN_DELETED),
    ("expiry_cleanup", Metric.CREDENTIALS_REVOKED),
    ("expiry_cleanup", Metric.CREDENTIALS_FAILED),
    ("expiry_watch", Metric.WARNED),
)
DEPTH: Final = "ApproximateNumberOfMessagesVisible"
AGE: Final = "ApproximateAgeOfOldestMessage"


def stream(watched: Watched) -> Iterator[Row]:
    late = [(LATE.to_milliseconds(), "alarm")]
    age = of_function(watched, "audit_consumer", "IteratorAge", "Maximum")
    dead_letters = [names.STREAM_DEAD_LETTERS, names.CLEANUP_DEAD_LETTERS]
    if watched.exports:
        dead_letters.append(names.EXPORT_DEAD_LETTERS)
    yield [
        graph(watched, "Stream iterator age", [age], unit="ms", limits=late),
        graph(watched, "Stream records", [counted(watched, *each) for each in RECORDS]),
        graph(watched, "Dead letters", [of_queue(watched, each, DEPTH) for each in dead_letters]),
        graph(
            watched,
            "Dead letters: age of the oldest",
            [of_queue(watched, each, AGE) for each in dead_letters],
            unit="s",
        ),
    ]
    yield [
        graph(
            watched, "Session clean-up and warnings", [counted(watched, *each) for each in CLEANUPS], width=12
        ),
        graph(watched, "Clean-up queue: messages", [of_queue(watched, names.CLEANUP_QUEUE, DEPTH)]),
        graph(
            watched,
            "Clean-up queue: age of the oldest",
            [of_queue(watched, names.CLEANUP_QUEUE, AGE)],
            unit="s",
        ),
    ]
