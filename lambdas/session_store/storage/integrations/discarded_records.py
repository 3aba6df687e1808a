"""Letters in which Lambda reports the stream records that it discarded.

Form: "Retain discarded records for a DynamoDB event source in Lambda" (AWS Lambda Developer Guide). A letter
points at the records in the stream; it does not contain them.
"""

from collections.abc import Callable
from typing import Annotated, Final

import msgspec

from session_store.domain.dead_letter import ShardRange, Unreadable

_SequenceNumber = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,40}$")]

NO_POINTER: Final = Unreadable(reason="not a letter about discarded records of a DynamoDB stream")
ELSEWHERE: Final = Unreadable(reason="points at the stream of another table")
BACKWARDS: Final = Unreadable(reason="its range ends before it begins")

Contents = tuple[ShardRange | Unreadable, str | None]
"""The range that a letter points at, and the condition that it names."""


class _Batch(msgspec.Struct, rename="camel"):
    shard_id: str
    start_sequence_number: _SequenceNumber
    end_sequence_number: _SequenceNumber
    batch_size: int
    stream_arn: str


class _Request(msgspec.Struct):
    condition: str


class _Pointer(msgspec.Struct, rename="camel"):
    request_context: _Request
    batch: _Batch = msgspec.field(name="DDBStreamBatchInfo")


def pointer_reader(table: str) -> Callable[[str], Contents]:
    """A decoder of letters about the streams of ``table``; letters about other tables are unreadable."""

    def read(body: str) -> Contents:
        try:
            pointer = msgspec.json.decode(body, type=_Pointer)
        except msgspec.DecodeError:
            return NO_POINTER, None
        return _range(pointer.batch, table=table), pointer.request_context.condition

    return read


def _range(batch: _Batch, *, table: str) -> ShardRange | Unreadable:
    if f":table/{table}/stream/" not in batch.stream_arn:
        return ELSEWHERE
    if int(batch.start_sequence_number) > int(batch.end_sequence_number):
        return BACKWARDS
    return ShardRange(
        stream=batch.stream_arn,
        shard_id=batch.shard_id,
        first=batch.start_sequence_number,
        last=batch.end_sequence_number,
        records=batch.batch_size,
    )
