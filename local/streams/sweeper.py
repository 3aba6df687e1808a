"""Deletes expired items as DynamoDB's TTL does; the emulator's own TTL is not used.

Rules: "Using time to live (TTL) in DynamoDB" (Amazon DynamoDB Developer Guide): the attribute is a number in
epoch seconds; an item is expired when it is less than the current time; one more than five years past stays.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.exceptions import ClientError

from local.streams.source import Stream
from local.streams.swept import SweptRecords

MAX_AGE_SECONDS: Final = 5 * 365 * 24 * 60 * 60
ATTEMPTS: Final = 20
ATTEMPT_PAUSE_SECONDS: Final = 0.05

Key = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Sweeper:
    """Sweeps one table. ``dynamodb`` and ``streams`` are boto3 clients of those services."""

    dynamodb: Any
    streams: Any
    table: str
    attribute: str
    swept: SweptRecords
    say: Callable[[str], None]
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    page_size: int = 100
    """Items scanned per page."""

    max_pages: int = 20
    """Pages per sweep; the next sweep continues where this one ended."""

    _next: Key | None = field(default=None)

    def sweep(self) -> int:
        """Delete expired items and return their number."""
        described = self.dynamodb.describe_table(TableName=self.table)["Table"]
        names = [key["AttributeName"] for key in described["KeySchema"]]
        arn = described.get("LatestStreamArn")
        stream = Stream(client=self.streams, arn=arn) if arn else None
        return sum(self._delete(key, stream) for key in self._expired(names))

    def _expired(self, names: Sequence[str]) -> Iterator[Key]:
        """Yield the keys of expired items. A scan, like DynamoDB's own TTL, so no index on ttl is needed."""
        placeholders = {f"#k{number}": name for number, name in enumerate(names)}
        for _ in range(self.max_pages):
            start = {} if self._next is None else {"ExclusiveStartKey": self._next}
            page = self.dynamodb.scan(
                TableName=self.table,
                Limit=self.page_size,
                ConsistentRead=True,
                ProjectionExpression=", ".join(placeholders),
                FilterExpression="#ttl < :now AND #ttl > :oldest",
                ExpressionAttributeNames={"#ttl": self.attribute, **placeholders},
                ExpressionAttributeValues=self._bounds(),
                **start,
            )
            yield from page["Items"]
            self._next = page.get("LastEvaluatedKey")
            if self._next is None:
                return

    def _delete(self, key: Key, stream: Stream | None) -> bool:
        """Delete an item; False if it was deleted or extended meanwhile."""
        with self.swept.sweeping() as note:
            tail = _Tail(stream) if stream is not None else None
            try:
                answer = self.dynamodb.delete_item(
                    TableName=self.table,
                    Key=key,
                    ConditionExpression="#ttl < :now AND #ttl > :oldest",
                    ExpressionAttributeNames={"#ttl": self.attribute},
                    ExpressionAttributeValues=self._bounds(),
                    ReturnValues="ALL_OLD",
                )
            except ClientError as error:
                if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                    return False
                raise
            if stream is not None and tail is not None:
                number = self._find(tail, key, answer["Attributes"])
                if number is None:
                    self.say(f"{self.table}: deleted an expired item, but did not find its stream record")
                else:
                    note(stream.arn, number)
        return True

    def _find(self, tail: "_Tail", key: Key, image: Mapping[str, Any]) -> str | None:
        """Return the sequence number of the deletion's record, which may take a moment to appear."""
        for _ in range(ATTEMPTS):
            number = tail.removal(key, image)
            if number is not None:
                return number
            self.sleep(ATTEMPT_PAUSE_SECONDS)
        return None

    def _bounds(self) -> Mapping[str, Mapping[str, str]]:
        """Return the range of an expired ttl; a value that is not a number is never in it."""
        now = int(self.now())
        return {":now": {"N": str(now)}, ":oldest": {"N": str(now - MAX_AGE_SECONDS)}}


class _Tail:
    """The records that a stream gets from now on, in all its shards."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._iterators = [stream.iterator(shard.shard_id, "LATEST") for shard in stream.shards()]

    def removal(self, key: Key, image: Mapping[str, Any]) -> str | None:
        """Return the sequence number of this item's removal among the records not read yet."""
        number = None
        next_iterators = []
        for iterator in self._iterators:
            page = self._stream.client.get_records(ShardIterator=iterator)
            if "NextShardIterator" in page:
                next_iterators.append(page["NextShardIterator"])
            for record in page["Records"]:
                change = record["dynamodb"]
                same = change["Keys"] == key and change.get("OldImage", image) == image
                if record["eventName"] == "REMOVE" and same:
                    number = number or change["SequenceNumber"]
        self._iterators = next_iterators
        return number
