"""A discard's message has the form that Lambda documents for DynamoDB streams."""

from local.streams.discards import DiscardCondition, discard_message
from local.streams.responses import InvocationResult
from tests.support.streams import START, STREAM_ARN, record

FUNCTION = "arn:aws:lambda:us-east-1:000000000000:function:consumer"
RECORDS = [record(7, created=START - 90), record(8, created=START - 80.5)]


def message(condition: DiscardCondition, answer: InvocationResult | None, invocations: int) -> object:
    return discard_message(
        RECORDS,
        condition=condition,
        invocations=invocations,
        answer=answer,
        function_arn=FUNCTION,
        stream_arn=STREAM_ARN,
        shard_id="shardId-1",
        request_id="request-1",
        now=START + 0.25,
    )


BATCH = {
    "shardId": "shardId-1",
    "startSequenceNumber": "000000000000000000007",
    "endSequenceNumber": "000000000000000000008",
    "approximateArrivalOfFirstRecord": "2027-01-15T07:58:30Z",
    "approximateArrivalOfLastRecord": "2027-01-15T07:58:39Z",
    "batchSize": 2,
    "streamArn": STREAM_ARN,
}


def test_exhausted_retries_tell_how_the_function_ended() -> None:
    answer = InvocationResult(request_id="request-1", function_error="Unhandled")
    assert message(DiscardCondition.RETRY_ATTEMPTS_EXHAUSTED, answer, 3) == {
        "requestContext": {
            "requestId": "request-1",
            "functionArn": FUNCTION,
            "condition": "RetryAttemptsExhausted",
            "approximateInvokeCount": 3,
        },
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "version": "1.0",
        "timestamp": "2027-01-15T08:00:00.250Z",
        "DDBStreamBatchInfo": BATCH,
    }


def test_a_reported_failure_is_no_function_error() -> None:
    made = message(DiscardCondition.RETRY_ATTEMPTS_EXHAUSTED, InvocationResult(request_id="request-1"), 1)
    assert isinstance(made, dict)
    assert made["responseContext"] == {"statusCode": 200, "executedVersion": "$LATEST"}


def test_records_that_were_never_sent_have_no_response() -> None:
    assert message(DiscardCondition.RECORD_AGE_EXCEEDED, None, 0) == {
        "requestContext": {
            "requestId": "request-1",
            "functionArn": FUNCTION,
            "condition": "RecordAgeExceeded",
            "approximateInvokeCount": 0,
        },
        "version": "1.0",
        "timestamp": "2027-01-15T08:00:00.250Z",
        "DDBStreamBatchInfo": BATCH,
    }
