"""A stream is read shard by shard, with iterators that expire or point to trimmed records."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local.streams.positions import Position
from local.streams.records import event_record
from local.streams.source import Shard, ShardError, ShardSource, Stream, readable_shards, shard_ends
from local.streams.swept import SweptRecords

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/sessions/stream/2027"
RECEIVED = {
    "eventID": "1",
    "eventName": "REMOVE",
    "eventVersion": "1.1",
    "eventSource": "aws:dynamodb",
    "awsRegion": "us-east-1",
    "dynamodb": {
        "ApproximateCreationDateTime": datetime(2027, 1, 15, 8, tzinfo=UTC),
        "Keys": {"pk": {"S": "a"}},
        "OldImage": {
            "pk": {"S": "a"},
            "blob": {"B": b"\x00\x01"},
            "blobs": {"BS": [b"\x02"]},
            "deep": {"M": {"list": {"L": [{"B": b"\x03"}, {"N": "1"}, {"NULL": True}]}}},
        },
        "SequenceNumber": "700",
        "SizeBytes": 3,
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    },
}


def failing(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "GetRecords")


class FakeStreams:
    """Answers GetRecords from a script of pages and errors; records the iterators requested."""

    def __init__(self, script: Sequence[Any] = (), shards: Sequence[dict[str, Any]] = ()) -> None:
        self._script = iter(script)
        self._shards = list(shards)
        self.asked: list[tuple[str, str | None]] = []

    def describe_stream(self, **request: Any) -> dict[str, Any]:
        start = request.get("ExclusiveStartShardId")
        places = {shard["ShardId"]: place for place, shard in enumerate(self._shards, start=1)}
        place = places.get(start, 0)
        page: dict[str, Any] = {"Shards": self._shards[place : place + 2]}
        if place + 2 < len(self._shards):
            page["LastEvaluatedShardId"] = page["Shards"][-1]["ShardId"]
        return {"StreamDescription": page}

    def get_shard_iterator(self, **request: Any) -> dict[str, str]:
        self.asked.append((request["ShardIteratorType"], request.get("SequenceNumber")))
        return {"ShardIterator": f"iterator-{len(self.asked)}"}

    def get_records(self, **_request: Any) -> dict[str, Any]:
        answer = next(self._script)
        if isinstance(answer, ClientError):
            raise answer
        return dict(answer)


def received(number: str, **changes: Any) -> dict[str, Any]:
    return {**RECEIVED, "dynamodb": {**RECEIVED["dynamodb"], "SequenceNumber": number}, **changes}  # type: ignore[dict-item]


def page(*records_: Any, following: str | None = "next") -> dict[str, Any]:
    answer: dict[str, Any] = {"Records": list(records_)}
    return answer if following is None else {**answer, "NextShardIterator": following}


def source(
    client: FakeStreams, tmp_path: Path, *, after: str | None = None, said: list[str] | None = None
) -> ShardSource:
    return ShardSource(
        stream=Stream(client=client, arn=ARN),
        shard_id="shard-1",
        after=after,
        swept=SweptRecords(tmp_path / "swept.jsonl"),
        say=(said if said is not None else []).append,
    )


def test_a_record_takes_the_form_that_a_function_gets() -> None:
    assert event_record(RECEIVED, stream_arn=ARN) == {
        "eventID": "1",
        "eventName": "REMOVE",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "eventSourceARN": ARN,
        "dynamodb": {
            "ApproximateCreationDateTime": 1_800_000_000,
            "Keys": {"pk": {"S": "a"}},
            "OldImage": {
                "pk": {"S": "a"},
                "blob": {"B": "AAE="},
                "blobs": {"BS": ["Ag=="]},
                "deep": {"M": {"list": {"L": [{"B": "Aw=="}, {"N": "1"}, {"NULL": True}]}}},
            },
            "SequenceNumber": "700",
            "SizeBytes": 3,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }


def test_an_identity_that_the_stream_has_is_spelled_as_lambda_spells_it() -> None:
    identity = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    event = event_record({**RECEIVED, "userIdentity": identity}, stream_arn=ARN)
    assert event["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


def test_a_shard_is_read_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    client = FakeStreams([page(received("1"), received("2")), page(), page(received("3"), following=None)])
    reading = source(client, tmp_path)
    pages = [reading.read() for _ in range(4)]
    assert [[r["dynamodb"]["SequenceNumber"] for r in one.records] for one in pages] == [
        ["1", "2"],
        [],
        ["3"],
        [],
    ]
    assert [one.ended for one in pages] == [False, False, True, True]
    assert client.asked == [("TRIM_HORIZON", None)]


def test_reading_goes_on_after_a_position(tmp_path: Path) -> None:
    client = FakeStreams([page(received("8"))])
    source(client, tmp_path, after="7").read()
    assert client.asked == [("AFTER_SEQUENCE_NUMBER", "7")]


def test_an_expired_iterator_is_replaced_at_the_last_record(tmp_path: Path) -> None:
    client = FakeStreams([page(received("1")), failing("ExpiredIteratorException"), page(received("2"))])
    reading = source(client, tmp_path)
    reading.read()
    assert [r["dynamodb"]["SequenceNumber"] for r in reading.read().records] == ["2"]
    assert client.asked == [("TRIM_HORIZON", None), ("AFTER_SEQUENCE_NUMBER", "1")]


def test_a_trimmed_position_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    said: list[str] = []
    client = FakeStreams([failing("TrimmedDataAccessException"), page(received("9"))])
    assert len(source(client, tmp_path, after="7", said=said).read().records) == 1
    assert client.asked == [("AFTER_SEQUENCE_NUMBER", "7"), ("TRIM_HORIZON", None)]
    assert "records after 7 are trimmed" in said[0]


def test_a_stream_that_gives_no_valid_iterator_is_an_error(tmp_path: Path) -> None:
    client = FakeStreams([failing("ExpiredIteratorException")] * 9)
    with pytest.raises(ShardError, match="every iterator expired at once"):
        source(client, tmp_path).read()


def test_another_error_passes_through(tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        source(FakeStreams([failing("ResourceNotFoundException")]), tmp_path).read()


def test_only_the_removals_that_the_sweeper_noted_carry_the_services_identity(tmp_path: Path) -> None:
    with SweptRecords(tmp_path / "swept.jsonl").sweeping() as note:
        note(ARN, "2")
        note(ARN, "3")
    client = FakeStreams([page(received("1"), received("2"), received("3", eventName="MODIFY"))])
    records = source(client, tmp_path).read().records
    identity = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    assert [record.get("userIdentity") for record in records] == [None, identity, None]


def test_all_pages_of_shards_are_found() -> None:
    described = [{"ShardId": f"shard-{n}", **({"ParentShardId": "shard-0"} if n else {})} for n in range(5)]
    shards = Stream(client=FakeStreams(shards=described), arn=ARN).shards()
    assert [shard.shard_id for shard in shards] == [f"shard-{n}" for n in range(5)]
    assert shards[1].parent_id == "shard-0"


def test_a_shard_waits_for_its_parent() -> None:
    shards = (
        Shard(shard_id="parent", parent_id="trimmed away"),
        Shard(shard_id="child", parent_id="parent"),
        Shard(shard_id="other"),
    )
    assert [shard.shard_id for shard in readable_shards(shards, finished=())] == ["parent", "other"]
    assert [shard.shard_id for shard in readable_shards(shards, finished={"parent"})] == ["child", "other"]


def test_the_end_of_a_shard_is_its_last_record() -> None:
    shards = [{"ShardId": "open"}, {"ShardId": "closed"}, {"ShardId": "empty"}]
    script = [page(received("1")), page(received("2")), page(), page(received("5"), following=None), page()]
    assert shard_ends(Stream(client=FakeStreams(script, shards), arn=ARN)) == {
        "open": Position(after="2"),
        "closed": Position(after="5", finished=True),
        "empty": Position(),
    }
