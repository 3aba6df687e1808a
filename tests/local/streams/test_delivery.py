"""A real stream reaches a real function in the emulator, and its dead-letter queue."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from local.emulator import running
from local.loopback import free_port
from tests.local.streams.conftest import Application, deploy_application, until


def keys(records: list[Any]) -> list[str]:
    return [record["dynamodb"]["Keys"]["sk"]["S"] for record in records]


def names(*numbers: int) -> list[str]:
    return [f"{number:03d}" for number in numbers]


def test_the_emulator_knows_no_mapping_of_a_stream(application: Application) -> None:
    mappings = application.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    assert [mapping for mapping in mappings if application.table in mapping["EventSourceArn"]] == []


def test_poison_is_discarded_alone_and_everything_else_delivered_in_order(application: Application) -> None:
    said: list[str] = []
    for number in range(1, 26):
        behaviour = {7: "raise", 20: "report"}.get(number, "fine")
        application.put("ordered", f"{number:03d}", behaviour={"S": behaviour})
        application.put("ignored", f"{number:03d}", behaviour={"S": "raise"})
    with application.delivering(said) as mappings:
        assert [mapping.name for mapping in mappings] == [f"{application.table}/Mapping"]
        seen = application.seen("ordered", count=23)
        letters = application.dead_letters(count=2)
    assert keys(seen) == names(*(number for number in range(1, 26) if number not in {7, 20}))
    assert [letter["requestContext"]["condition"] for letter in letters] == ["RetryAttemptsExhausted"] * 2
    assert [letter["requestContext"]["approximateInvokeCount"] for letter in letters] == [2, 2]
    assert [letter["DDBStreamBatchInfo"]["batchSize"] for letter in letters] == [1, 1]
    assert ["functionError" in letter["responseContext"] for letter in letters] == [True, False]
    assert [discarded(application, letter) for letter in letters] == names(7, 20)


def discarded(application: Application, letter: Any) -> str:
    """Read the record that a dead letter refers to from the stream again."""
    info = letter["DDBStreamBatchInfo"]
    streams = application.client("dynamodbstreams")
    iterator = streams.get_shard_iterator(
        StreamArn=info["streamArn"],
        ShardId=info["shardId"],
        ShardIteratorType="AT_SEQUENCE_NUMBER",
        SequenceNumber=info["startSequenceNumber"],
    )["ShardIterator"]
    record = streams.get_records(ShardIterator=iterator, Limit=1)["Records"][0]
    name: str = record["dynamodb"]["Keys"]["sk"]["S"]
    return name


def test_a_function_that_crashes_or_runs_out_of_time_fails_its_batch(application: Application) -> None:
    application.put("broken", "001", behaviour={"S": "crash"})
    application.put("broken", "002", behaviour={"S": "hang"})
    with application.delivering([]):
        letters = application.dead_letters(count=2)
        application.put("broken", "003")
        assert keys(application.seen("broken", count=1)) == names(3)
    assert [letter["responseContext"]["functionError"] for letter in letters] == ["Unhandled"] * 2
    assert [letter["requestContext"]["approximateInvokeCount"] for letter in letters] == [2, 2]
    assert [discarded(application, letter) for letter in letters] == names(1, 2)


def test_a_restart_delivers_records_written_meanwhile_and_none_twice(application: Application) -> None:
    application.put("restart", "001")
    with application.delivering([]):
        assert keys(application.seen("restart", count=1)) == names(1)
        until(lambda: position(application) is not None)
    application.put("restart", "002")
    application.put("restart", "003")
    with application.delivering([]):
        assert keys(application.seen("restart", count=3)) == names(1, 2, 3)


def test_undelivered_records_outlive_a_restart_of_the_emulator(tmp_path: Path) -> None:
    said: list[str] = []
    with running(tmp_path, port=free_port()) as first:
        application = deploy_application(first, tmp_path)
        application.throttle()
        application.put("kept", "001")
        application.put("kept", "002")
        with application.delivering(said):
            pass
    with running(tmp_path, port=free_port()) as second:
        again = replace(application, emulator=second)
        again.unthrottle()
        again.put("kept", "003")
        with again.delivering(said):
            assert keys(again.seen("kept", count=3)) == names(1, 2, 3)
    assert said == []


def position(application: Application) -> str | None:
    """Return the sequence number in the runner's file, if any."""
    file = application.emulator.state / "streams" / "positions.json"
    if not file.exists():
        return None
    ((_, shards),) = json.loads(file.read_text()).items()
    ((_, held),) = shards.items()
    after: str | None = held["after"]
    return after


def test_only_the_record_of_an_expired_item_has_the_service_identity(
    application: Application,
) -> None:
    now = int(time.time())
    application.put("ttl", "deleted", ttl={"N": str(now - 5)})
    application.delete("ttl", "deleted")
    application.put("ttl", "deleted", ttl={"N": str(now - 5)})
    application.put("ttl", "alive", ttl={"N": str(now + 3600)})
    application.put("ttl", "ancient", ttl={"N": str(now - 6 * 365 * 86_400)})
    application.put("ttl", "worded", ttl={"S": str(now - 5)})
    application.put("ttl", "without")
    with application.delivering([]):
        records = application.seen("ttl", count=7)
    removed = [
        (keys([record])[0], record.get("userIdentity"))
        for record in records
        if record["eventName"] == "REMOVE"
    ]
    service = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    assert removed == [("deleted", None), ("deleted", service)]
    left = application.client("dynamodb").scan(TableName=application.table)["Items"]
    assert sorted(item["sk"]["S"] for item in left) == ["alive", "ancient", "without", "worded"]


def test_a_swept_record_that_is_delivered_after_a_restart_carries_the_identity_still(
    application: Application,
) -> None:
    application.throttle()
    application.put("later", "001", ttl={"N": str(int(time.time()) - 5)})
    with application.delivering([]):
        until(lambda: application.client("dynamodb").scan(TableName=application.table)["Count"] == 0)
    application.unthrottle()
    with application.delivering([]):
        records = application.seen("later", count=2)
    assert [record["eventName"] for record in records] == ["INSERT", "REMOVE"]
    assert records[1]["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
