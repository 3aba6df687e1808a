"""DynamoDB Streams read through boto3, shard by shard.

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
"""How often one read asks for a new iterator before it gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    shard_id: str
    parent_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """``client`` is of the service dynamodbstreams."""

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
        place = {} if after is None else {"SequenceNumber": after}
        answer = self.client.get_shard_iterator(
            StreamArn=self.arn, ShardId=shard_id, ShardIteratorType=kind, **place
        )
        iterator: str = answer["ShardIterator"]
        return iterator


def readable_shards(shards: Sequence[Shard], *, finished: Collection[str]) -> tuple[Shard, ...]:
    """Those whose turn it is: not done with, and no parent left that is not."""
    known = {shard.shard_id for shard in shards}
    return tuple(
        shard
        for shard in shards
        if shard.shard_id not in finished and (shard.parent_id not in known or shard.parent_id in finished)
    )


@dataclass(slots=True, kw_only=True)
class ShardSource:
    """Records of one shard after ``after``, None for its beginning, in the form Lambda gives."""

    stream: Stream
    shard_id: str
    after: str | None
    swept: SweptRecords
    say: Callable[[str], None]
    begins_anew: bool = False
    """The stream need not know ``after``: nothing is lost when it begins after that."""

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
        self.begins_anew = False
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
        raise ShardError(f"{self.shard_id} of {self.stream.arn}: no iterator stays valid")

    def _recover(self, error: ClientError) -> None:
        match error.response["Error"]["Code"]:
            case "ExpiredIteratorException":
                self._iterator = None
            case "TrimmedDataAccessException":
                if not self.begins_anew:
                    self.say(
                        f"{self.stream.arn}: what followed {self.after} is trimmed; reading what is left"
                    )
                self._iterator, self.after = None, None
            case _:
                raise error

    def _identified(self, record: dict[str, Any]) -> dict[str, Any]:
        if record["eventName"] == "REMOVE" and self.swept.holds(self.stream.arn, sequence_number(record)):
            return {**record, "userIdentity": dict(TTL_IDENTITY)}
        return record


class ShardError(RuntimeError):
    """A shard cannot be read."""


def ends(stream: Stream) -> dict[str, Position]:
    """Where each shard ends now: what a mapping that starts at LATEST counts as done with.

    Found by reading, since the stream tells the last sequence number of closed shards only.
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
