"""The message about discarded records for an on-failure destination.

Format: "Retain discarded records for a DynamoDB event source in Lambda" (AWS Lambda Developer Guide). It has
the range of the records in the stream, not the records.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from local.streams.records import Record, created_at, sequence_number
from local.streams.responses import InvocationResult


class DiscardCondition(StrEnum):
    """Why records were discarded."""

    RETRY_ATTEMPTS_EXHAUSTED = "RetryAttemptsExhausted"
    RECORD_AGE_EXCEEDED = "RecordAgeExceeded"


def discard_message(
    records: Sequence[Record],
    *,
    condition: DiscardCondition,
    invocations: int,
    answer: InvocationResult | None,
    function_arn: str,
    stream_arn: str,
    shard_id: str,
    request_id: str,
    now: float,
) -> dict[str, Any]:
    """Build the message. ``records`` has at least one; ``now`` is in seconds since the epoch.

    ``answer`` is the last invocation's result and ``request_id`` its id, or a new one if there was none:
    records that were too old before the first attempt have no responseContext.
    """
    message: dict[str, Any] = {
        "requestContext": {
            "requestId": request_id,
            "functionArn": function_arn,
            "condition": condition.value,
            "approximateInvokeCount": invocations,
        }
    }
    if answer is not None:
        message["responseContext"] = _response_context(answer)
    return {
        **message,
        "version": "1.0",
        "timestamp": _iso(now, "milliseconds"),
        "DDBStreamBatchInfo": {
            "shardId": shard_id,
            "startSequenceNumber": sequence_number(records[0]),
            "endSequenceNumber": sequence_number(records[-1]),
            "approximateArrivalOfFirstRecord": _iso(created_at(records[0]), "seconds"),
            "approximateArrivalOfLastRecord": _iso(created_at(records[-1]), "seconds"),
            "batchSize": len(records),
            "streamArn": stream_arn,
        },
    }


def _response_context(answer: InvocationResult) -> dict[str, Any]:
    context: dict[str, Any] = {"statusCode": answer.status_code, "executedVersion": answer.executed_version}
    if answer.function_error is not None:
        context["functionError"] = answer.function_error
    return context


def _iso(seconds: float, precision: str) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=precision).replace("+00:00", "Z")
