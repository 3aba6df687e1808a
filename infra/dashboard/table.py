"""The tables: capacity, throttles, failed conditions, deletions by TTL."""

from collections.abc import Iterator
from typing import Final

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.dashboard.metrics import of_index, of_table
from infra.dashboard.panels import Row, graph
from infra.dashboard.watched import Watched
from session_store.schema import INDEXES

OPERATIONS: Final = ("GetItem", "PutItem", "UpdateItem", "Query", "TransactWriteItems")


def table(watched: Watched) -> Iterator[Row]:
    sessions, _ = watched.tables
    yield [
        graph(watched, "Write units by table and index", _by_index(watched, "ConsumedWriteCapacityUnits")),
        graph(watched, "Read units by table and index", _by_index(watched, "ConsumedReadCapacityUnits")),
        graph(watched, "Throttled writes by table and index", _by_index(watched, "WriteThrottleEvents")),
        graph(watched, "Throttled reads by table and index", _by_index(watched, "ReadThrottleEvents")),
    ]
    yield [
        graph(watched, "Failed conditional writes", _by_table(watched, "ConditionalCheckFailedRequests")),
        graph(watched, "Transaction conflicts", _by_table(watched, "TransactionConflict")),
        graph(watched, "DynamoDB latency, p99", _by_operation(sessions), unit="ms"),
        graph(watched, "Deleted by TTL", _by_table(watched, "TimeToLiveDeletedItemCount")),
    ]
    if watched.changes:
        yield [
            graph(
                watched, "Kinesis: age of the oldest record", _to_kinesis(sessions, KINESIS_AGE), unit="ms"
            ),
            graph(watched, "Kinesis: throttled and failed records", _to_kinesis(sessions, *KINESIS_TROUBLE)),
        ]


KINESIS_AGE: Final = ("AgeOfOldestUnreplicatedRecord", "Maximum")
KINESIS_TROUBLE: Final = (("ThrottledPutRecordCount", "Sum"), ("FailedToReplicateRecordCount", "Sum"))


def _by_table(watched: Watched, name: str) -> Iterator[cloudwatch.Metric]:
    return (of_table(each, name, label=each) for each in watched.tables)


def _by_index(watched: Watched, name: str) -> Iterator[cloudwatch.Metric]:
    yield from _by_table(watched, name)
    for index in INDEXES:
        yield of_index(watched.config.table_name, index.name, name)


def _by_operation(name: str) -> Iterator[cloudwatch.Metric]:
    for operation in OPERATIONS:
        yield of_table(name, "SuccessfulRequestLatency", "p99", label=operation, Operation=operation)


def _to_kinesis(name: str, *metrics: tuple[str, str]) -> Iterator[cloudwatch.Metric]:
    for metric, statistic in metrics:
        yield of_table(name, metric, statistic, DelegatedOperation="PutRecord")
