"""The deployed consumer on a real stream: what nothing can be done with, and what comes again."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from infra.audit_consumer import ATTEMPTS, BATCH
from local.streams.deployed import INVOKING, LambdaFunction
from local.streams.records import Record, sequence_number
from session_store.domain.batch_answer import failed_positions
from session_store.domain.session import Session
from session_store.schema import QUARANTINE_PREFIX, Attribute, RedriveEnv, StreamEnv
from session_store.storage.dynamodb.audit_items import audit_entry_from
from tests.support.calls import Acting
from tests.support.delivery import delivered, eventually
from tests.support.emulator import LiveStack
from tests.support.raw_changes import Changes, written
from tests.support.raw_table import Item, RawTable

INDEX: Final = "byActor"


@contextmanager
def indexed_by_actor(raw_audit: RawTable) -> Iterator[None]:
    """While the block runs DynamoDB refuses rows of the audit table whose actor is empty, and no others.

    The key of an index may be absent from an item, and not empty (*Using Global Secondary Indexes*).
    """
    key = {"AttributeName": Attribute.ACTOR.value, "KeyType": "HASH"}
    index = {"IndexName": INDEX, "KeySchema": [key], "Projection": {"ProjectionType": "KEYS_ONLY"}}
    raw_audit.dynamodb.update_table(
        TableName=raw_audit.name,
        AttributeDefinitions=[{"AttributeName": Attribute.ACTOR.value, "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": index}],
    )
    try:
        yield
    finally:
        raw_audit.dynamodb.update_table(
            TableName=raw_audit.name, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": INDEX}}]
        )


def rows(raw_audit: RawTable, sessions: Sequence[Session]) -> list[Item]:
    """Of all the sessions, each in the order of its trail."""
    return [row for session in sessions for row in raw_audit.partition(session.session_id)]


def told(found: Sequence[Item]) -> dict[str, list[tuple[str, int]]]:
    """Sequence number, and the version that the session came to, of each row, by partition."""
    numbers: dict[str, list[tuple[str, int]]] = {}
    for row in found:
        changes = {each.path: each.new for each in audit_entry_from(row).changes}
        entry = (row[Attribute.SEQUENCE_NUMBER]["S"], changes["/version"])
        numbers.setdefault(row[Attribute.PK]["S"], []).append(entry)
    return numbers


def quarantined(stack: LiveStack, record: Record) -> list[Any]:
    """The record of every object that is named after ``record``."""
    s3, bucket = stack.emulator.client("s3"), stack.variables("audit_consumer")[StreamEnv.QUARANTINE_BUCKET]
    listed = s3.list_objects_v2(Bucket=bucket, Prefix=QUARANTINE_PREFIX).get("Contents", [])
    keys = [each["Key"] for each in listed if sequence_number(record) in each["Key"]]
    return [json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())["record"] for key in keys]


def letters(stack: LiveStack) -> list[Any]:
    """All of the stream's dead letters, as Lambda sent them, which stay."""
    url = stack.variables("session_api")[RedriveEnv.STREAM_DEAD_LETTERS_URL]
    sqs = stack.emulator.client("sqs")
    received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0)
    return [json.loads(message["Body"]) for message in received.get("Messages", [])]


def redriven(api: Acting) -> list[tuple[str, int]]:
    answer = api.call("POST", "/ops/dlq/redrive", {"queue": "stream"})
    assert answer.status == 200, answer.body
    return [(letter["outcome"], letter["records"]) for letter in answer.json["items"]]


def assert_points_at(letter: Any, record: Record) -> None:
    """Form: "Retain discarded records for a DynamoDB event source in Lambda" (AWS Lambda Developer Guide)."""
    parts = {"requestContext", "responseContext", "version", "timestamp", "DDBStreamBatchInfo"}
    assert letter.keys() == parts
    context, batch = letter["requestContext"], letter["DDBStreamBatchInfo"]
    assert context["condition"] == "RetryAttemptsExhausted"
    assert context["approximateInvokeCount"] == 1 + ATTEMPTS
    number = sequence_number(record)
    assert (batch["startSequenceNumber"], batch["endSequenceNumber"]) == (number, number)
    assert (batch["batchSize"], batch["streamArn"]) == (1, record["eventSourceARN"])


def assert_shown(api: Acting, record: Record) -> None:
    """Operators see the one letter, and that there is something in quarantine."""
    shown = api.call("GET", "/ops/dlq").json
    (letter,) = shown["queues"][0]["letters"]
    assert letter["shardRange"]["startSequenceNumber"] == sequence_number(record)
    assert shown["quarantine"]["records"] > 0


def test_of_a_thousand_records_two_bad_ones_hold_nothing_up(
    api: Acting, deployed: LiveStack, raw_audit: RawTable, tmp_path: Path
) -> None:
    changes = Changes(rounds=100, nameless=True)
    with indexed_by_actor(raw_audit), delivered(deployed):
        all_told = written(deployed, changes, tmp_path)
        assert len(all_told.records) == 1000
        # A shard is in order: what was written last is audited after all that stood in the way.
        last = changes.sessions[-1].session_id
        assert eventually(lambda: len(raw_audit.partition(last)) == changes.rounds)
        audited = rows(raw_audit, changes.sessions)
        assert len(audited) == 998
        assert told(audited) == all_told.without(all_told.strange, all_told.nameless)
        assert quarantined(deployed, all_told.strange) == [all_told.strange]
        (letter,) = letters(deployed)
        assert_points_at(letter, all_told.nameless)
        assert_shown(api, all_told.nameless)
        assert redriven(api) == [("failed", 0)]
    assert redriven(api) == [("replayed", 1)]
    assert letters(deployed) == []
    assert told(rows(raw_audit, changes.sessions)) == all_told.without(all_told.strange)


def test_a_batch_that_is_delivered_three_times_is_audited_once(
    deployed: LiveStack, raw_audit: RawTable, tmp_path: Path
) -> None:
    changes = Changes(rounds=BATCH // 10, nameless=False)
    batch = written(deployed, changes, tmp_path)
    assert len(batch.records) == BATCH
    functions = deployed.emulator.client("lambda", config=INVOKING)
    consumer = LambdaFunction(client=functions, arn=deployed.function("audit_consumer"))

    def deliver() -> list[Item]:
        answer = consumer.invoke({"Records": list(batch.records)})
        assert answer.function_error is None
        assert failed_positions(answer.payload, [sequence_number(record) for record in batch.records]) == ()
        return rows(raw_audit, changes.sessions)

    once = deliver()
    assert told(once) == batch.without(batch.strange)
    assert deliver() == once
    assert deliver() == once
    assert quarantined(deployed, batch.strange) == [batch.strange]
