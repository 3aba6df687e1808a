"""Records that DynamoDB Streams still holds, of ranges that were delivered before.

Source: DynamoDB Streams API reference, *GetShardIterator* and *GetRecords*. Records older than 24 hours are
trimmed, and it may take several calls to reach a part of the shard that has records.
"""

from enum import Enum, auto
from typing import Any, Final

from botocore.exceptions import ClientError
from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.dead_letter import Reread, ShardRange
from session_store.errors import ThrottledError
from session_store.storage.dynamodb.attempts import ATTEMPT_SECONDS, error_code
from session_store.storage.dynamodb.stream_events import event_record, sequence_number
from session_store.storage.integrations.transient_errors import transient_as_throttled

PAGE: Final = 1000
"""Records per call, the maximum of GetRecords."""

MOST_PAGES: Final = 50
"""Calls for one range at most. A page has up to 1 MB, a batch of Lambda up to 6 MB."""


class _End(Enum):
    """How reading a range of a shard ended."""

    REACHED = auto()
    """The end of the range was read."""

    SHORT = auto()
    """Reading stopped before the end of the range."""

    TRIMMED = auto()
    """The start of the range has been trimmed."""

    GONE = auto()
    """The shard does not exist any more."""


_ENDS: Final = {"TrimmedDataAccessException": _End.TRIMMED, "ResourceNotFoundException": _End.GONE}


class StreamHistory(Struct, frozen=True, kw_only=True):
    streams: Any
    """A boto client of ``dynamodbstreams``."""

    deadline: Deadline

    def read(self, span: ShardRange) -> Reread:
        records: list[dict[str, Any]] = []
        end = self._walk(
            span, records, {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": span.first}
        )
        trimmed = end is _End.TRIMMED
        if trimmed:
            end = self._walk(span, records, {"ShardIteratorType": "TRIM_HORIZON"})
        # If everything in an open shard is trimmed, its end cannot be reached.
        if not records and (end is _End.GONE or (trimmed and end is _End.SHORT)):
            return Reread(records=(), trimmed=True)
        if end is not _End.REACHED:
            raise ThrottledError(f"The stream could not be read to the end of {span}; try again.")
        begins = sequence_number(records[0]) if records else None
        return Reread(records=tuple(records), trimmed=trimmed or begins != span.first)

    def _walk(self, span: ShardRange, records: list[dict[str, Any]], place: dict[str, str]) -> _End:
        """Add the records of the range, from ``place`` on, that are not in ``records`` yet."""
        try:
            iterator = self._call(
                "get_shard_iterator", StreamArn=span.stream, ShardId=span.shard_id, **place
            )["ShardIterator"]
            for _ in range(MOST_PAGES):
                page = self._call("get_records", ShardIterator=iterator, Limit=PAGE)
                if _take(page["Records"], span, records):
                    return _End.REACHED
                iterator = page.get("NextShardIterator")
                if iterator is None:
                    return _End.SHORT
        except ClientError as error:
            if error_code(error) not in _ENDS:
                raise
            return _ENDS[error_code(error)]
        return _End.SHORT

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - botocore's own
        if self.deadline.remaining() < ATTEMPT_SECONDS:
            raise ThrottledError("The deadline passed before the stream was read; try again.")
        with transient_as_throttled("The stream"):
            answer: dict[str, Any] = getattr(self.streams, operation)(**arguments)
        return answer


def _take(page: list[dict[str, Any]], span: ShardRange, records: list[dict[str, Any]]) -> bool:
    """Add the records of a page that are in the range; returns whether the range ends in the page."""
    last = int(span.last)
    for record in page:
        number = int(sequence_number(record))
        after = int(sequence_number(records[-1])) if records else int(span.first) - 1
        if after < number <= last:
            records.append(event_record(record, stream_arn=span.stream))
        if number >= last:
            return True
    return False
