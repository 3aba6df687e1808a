"""Reads DynamoDB Streams through boto3, shard by shard.

Source: "Reading and processing a stream" (Amazon DynamoDB Developer Guide) and the DynamoDB Streams API
reference: an iterator lives 15 minutes, a record 24 hours, a shard is read after its parent.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.exceptions import ClientError

from local.streams.positions import Position
from local.streams.reader import READ_LIMIT, RecordPage
from local.streams.records import TTL_IDENTITY, event_record, sequence_number
from local.streams.swept import SweptRecords

FRESH_ITERATORS: Final = 3
"""Iterators that one read asks for before it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    shard_id: str
    parent_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A table's stream; ``client`` is a boto3 client of dynamodbstreams."""

    client: Any
    arn: str

    def shards(self) -> tuple[Shard, ...]:
        return tuple(self._shards())

    def _shards(self) -> Iterator[Shard]:
        last: str | None = None
        while True:
            start = {} if last is None else {"ExclusiveStartShardId": last}
            page = self.client.describe_stream(StreamArn=self.arn, **start)["StreamDescription"]
            for shard in page["Shards"]:
                yield Shard(shard_id=shard["ShardId"], parent_id=shard.get("ParentShardId"))
            last = page.get("LastEvaluatedShardId")
            if last is None:
                return

    def iterator(self, shard_id: str, kind: str, after: str | None = None) -> str:
        position = {} if after is None else {"SequenceNumber": after}
        answer = self.client.get_shard_iterator(
            StreamArn=self.arn, ShardId=shard_id, ShardIteratorType=kind, **position
        )
        iterator: str = answer["ShardIterator"]
        return iterator


def readable_shards(shards: Sequence[Shard], *, finished: Collection[str]) -> tuple[Shard, ...]:
    """Return the shards to read now: not finished, and with a finished or unknown parent."""
    known = {shard.shard_id for shard in shards}
    return tuple(
        shard
        for shard in shards
        if shard.shard_id not in finished and (shard.parent_id not in known or shard.parent_id in finished)
    )


@dataclass(slots=True, kw_only=True)
class ShardSource:
    """The records of one shard after ``after`` (None: all of them), in the form of Lambda's event."""

    stream: Stream
    shard_id: str
    after: str | None
    swept: SweptRecords
    say: Callable[[str], None]
    allow_trimmed: bool = False
    """It is no loss if the stream no longer has ``after``: the records up to there are in a backlog."""

    _iterator: str | None = None
    _ended: bool = field(default=False)

    def read(self, *, limit: int = READ_LIMIT) -> RecordPage:
        if self._ended:
            return RecordPage(ended=True)
        answer = self._answer(limit)
        self._iterator = answer.get("NextShardIterator")
        self._ended = self._iterator is None
        records = [
            self._identified(event_record(record, stream_arn=self.stream.arn)) for record in answer["Records"]
        ]
        if records:
            self.after = sequence_number(records[-1])
        self.allow_trimmed = False
        return RecordPage(records=records, ended=self._ended)

    def _answer(self, limit: int) -> dict[str, Any]:
        for _ in range(FRESH_ITERATORS):
            try:
                if self._iterator is None:
                    kind = "TRIM_HORIZON" if self.after is None else "AFTER_SEQUENCE_NUMBER"
                    self._iterator = self.stream.iterator(self.shard_id, kind, self.after)
                answer: dict[str, Any] = self.stream.client.get_records(
                    ShardIterator=self._iterator, Limit=limit
                )
            except ClientError as error:
                self._recover(error)
            else:
                return answer
        raise ShardError(f"{self.shard_id} of {self.stream.arn}: every iterator expired at once")

    def _recover(self, error: ClientError) -> None:
        match error.response["Error"]["Code"]:
            case "ExpiredIteratorException":
                self._iterator = None
            case "TrimmedDataAccessException":
                if not self.allow_trimmed:
                    self.say(f"{self.stream.arn}: records after {self.after} are trimmed; reading the rest")
                self._iterator, self.after = None, None
            case _:
                raise error

    def _identified(self, record: dict[str, Any]) -> dict[str, Any]:
        if record["eventName"] == "REMOVE" and self.swept.holds(self.stream.arn, sequence_number(record)):
            return {**record, "userIdentity": dict(TTL_IDENTITY)}
        return record


class ShardError(RuntimeError):
    """The shard cannot be read."""


def shard_ends(stream: Stream) -> dict[str, Position]:
    """Return the current end of each shard, where a mapping with LATEST starts.

    Found by reading, since DescribeStream has the last sequence number of closed shards only.
    """
    return {shard.shard_id: _end(stream, shard.shard_id) for shard in stream.shards()}


def _end(stream: Stream, shard_id: str) -> Position:
    iterator: str | None = stream.iterator(shard_id, "TRIM_HORIZON")
    after: str | None = None
    while iterator is not None:
        page = stream.client.get_records(ShardIterator=iterator, Limit=READ_LIMIT)
        if not page["Records"] and "NextShardIterator" in page:
            return Position(after=after)
        after = page["Records"][-1]["dynamodb"]["SequenceNumber"] if page["Records"] else after
        iterator = page.get("NextShardIterator")
    return Position(after=after, finished=True)
