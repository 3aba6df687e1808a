"""Lambda's letters are decoded in the documented form, and no other message is taken for one."""

import json
from typing import Any

import pytest

from session_store.domain.dead_letter import ShardRange
from session_store.storage.integrations.discarded_records import (
    BACKWARDS,
    ELSEWHERE,
    NO_POINTER,
    pointer_reader,
)
from tests.support.stream import STREAM

TABLE = "sessions"
LETTER: dict[str, Any] = {
    "requestContext": {
        "requestId": "316aa6d0-8154-4b1d-9af7-85d5f4a6bc81",
        "functionArn": "arn:aws:lambda:us-east-1:111122223333:function:consumer",
        "condition": "RetryAttemptsExhausted",
        "approximateInvokeCount": 1,
    },
    "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
    "version": "1.0",
    "timestamp": "2027-01-15T08:00:49.717Z",
    "DDBStreamBatchInfo": {
        "shardId": "shardId-00000001573689847184-864758bb",
        "startSequenceNumber": "800000000003126276362",
        "endSequenceNumber": "800000000003126276399",
        "approximateArrivalOfFirstRecord": "2027-01-15T08:00:19Z",
        "approximateArrivalOfLastRecord": "2027-01-15T08:00:19Z",
        "batchSize": 7,
        "streamArn": STREAM,
    },
}


def changed(**batch: Any) -> str:
    return json.dumps({**LETTER, "DDBStreamBatchInfo": {**LETTER["DDBStreamBatchInfo"], **batch}})


def test_a_letter_points_at_a_range_and_tells_its_condition() -> None:
    contents, condition = pointer_reader(TABLE)(json.dumps(LETTER))
    assert condition == "RetryAttemptsExhausted"
    assert contents == ShardRange(
        stream=STREAM,
        shard_id="shardId-00000001573689847184-864758bb",
        first="800000000003126276362",
        last="800000000003126276399",
        records=7,
    )


def test_records_that_were_too_old_to_be_sent_have_no_response_and_a_range_all_the_same() -> None:
    aged = {name: part for name, part in LETTER.items() if name != "responseContext"}
    contents, _ = pointer_reader(TABLE)(json.dumps(aged))
    assert isinstance(contents, ShardRange)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no JSON",
        "null",
        "[]",
        "{}",
        json.dumps({**LETTER, "DDBStreamBatchInfo": None}),
        json.dumps({**LETTER, "requestContext": {}}),
        changed(startSequenceNumber=7),
        changed(startSequenceNumber="x"),
        changed(endSequenceNumber=""),
        changed(endSequenceNumber="1" * 41),
        changed(batchSize="7"),
        changed(streamArn=None),
    ],
)
def test_what_is_no_such_letter_is_unreadable(body: str) -> None:
    assert pointer_reader(TABLE)(body) == (NO_POINTER, None)


def test_a_letter_about_another_tables_stream_is_not_followed() -> None:
    contents, condition = pointer_reader("other")(json.dumps(LETTER))
    assert (contents, condition) == (ELSEWHERE, "RetryAttemptsExhausted")
    assert pointer_reader("session")(json.dumps(LETTER))[0] is ELSEWHERE


def test_a_range_that_ends_before_it_begins_is_unreadable() -> None:
    read = pointer_reader(TABLE)
    assert read(changed(startSequenceNumber="1000", endSequenceNumber="999"))[0] is BACKWARDS
    assert read(changed(startSequenceNumber="999", endSequenceNumber="1000"))[0] is not BACKWARDS
