"""Alarms on a region's replicas of the tables: throttles, internal errors, transaction conflicts."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb

from infra.alarms import LONG, SHORT, Alarms
from infra.config import Config
from session_store.schema import INDEXES

NAMESPACE: Final = "AWS/DynamoDB"

THROTTLED: Final = 10
"""Events per minute. Fewer are absorbed by the three attempts of each request."""

MINUTES: Final = 3
OUT_OF: Final = 5
"""On-demand tables throttle briefly while they split a partition, so only persistent throttling alarms."""

FAILED: Final = 10
"""Internal errors of DynamoDB in five minutes; single ones are normal and retried."""

CONFLICTS: Final = 300
"""In five minutes: one per second. Each was retried; so many mean that callers share a hot session."""

OPERATIONS: Final = (
    dynamodb.Operation.BATCH_GET_ITEM,
    dynamodb.Operation.BATCH_WRITE_ITEM,
    dynamodb.Operation.GET_ITEM,
    dynamodb.Operation.PUT_ITEM,
    dynamodb.Operation.QUERY,
    dynamodb.Operation.TRANSACT_WRITE_ITEMS,
    dynamodb.Operation.UPDATE_ITEM,
)
"""All operations that the store calls; DynamoDB reports its errors only by operation."""


def alarm_on_tables(alarms: Alarms, *, config: Config) -> None:
    """Tables are named: a replica's metrics are emitted in its own region, under the table's name."""
    table = {"TableName": config.table_name}
    throttled = {
        "session-table": table,
        **{index.name: {**table, "GlobalSecondaryIndexName": index.name} for index in INDEXES},
        "audit-table": {"TableName": config.audit_table_name},
    }
    for name, dimensions in throttled.items():
        for kind in ("Read", "Write"):
            alarms.add(
                f"{name}-{kind.lower()}-throttles",
                says=f"DynamoDB throttles {kind.lower()}s of the {name.replace('-', ' ')}",
                metric=_metric(f"{kind}ThrottleEvents", dimensions, period=SHORT),
                above=THROTTLED,
                periods=MINUTES,
                of=OUT_OF,
                section="table-throttles",
            )
    if not config.is_local:
        # The emulator has no metric math.
        alarms.add(
            "table-errors",
            says="DynamoDB answers with internal errors (HTTP 500)",
            metric=_system_errors(table),
            above=FAILED,
            # FILL substitutes zero for values that arrive late, so one period alone decides nothing.
            periods=2,
            of=3,
        )
    alarms.add(
        "transaction-conflicts",
        says="many concurrent writes conflict on the same items",
        metric=_metric("TransactionConflict", table),
        above=CONFLICTS,
        periods=2,
        of=3,
    )


def _system_errors(table: dict[str, str]) -> cloudwatch.MathExpression:
    errors = {
        f"errors{number}": _metric("SystemErrors", {**table, "Operation": _spelled(operation)})
        for number, operation in enumerate(OPERATIONS)
    }
    return cloudwatch.MathExpression(
        expression=" + ".join(f"FILL({name}, 0)" for name in errors), using_metrics=errors, period=LONG
    )


def _spelled(operation: dynamodb.Operation) -> str:
    """As DynamoDB spells it: ``GetItem``."""
    return "".join(word.capitalize() for word in operation.name.split("_"))


def _metric(name: str, dimensions: dict[str, str], *, period: Duration = LONG) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=NAMESPACE, metric_name=name, dimensions_map=dimensions, period=period, statistic="Sum"
    )
