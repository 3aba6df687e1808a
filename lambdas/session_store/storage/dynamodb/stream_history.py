"""What DynamoDB Streams still holds of records that were delivered before: a day's worth.

Source: DynamoDB Streams API reference, *GetShardIterator* and *GetRecords*: what is older than 24 hours is
trimmed, and it may take several calls to come to a portion of the shard that has records.
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
"""Records a call, the most that GetRecords gives."""

MOST_PAGES: Final = 50
"""Calls for one range. A page has at most 1 MB, and Lambda gives a batch of at most 6 MB."""


class _End(Enum):
    """Where a walk through the shard came to its end."""

    REACHED = auto()
    """At the end of the range."""

    SHORT = auto()
    """Before it."""

    TRIMMED = auto()
    """At records that are not there any more."""

    GONE = auto()
    """There is no such shard any more."""


_ENDS: Final = {"TrimmedDataAccessException": _End.TRIMMED, "ResourceNotFoundException": _End.GONE}


class StreamHistory(Struct, frozen=True, kw_only=True):
    streams: Any
    """A client of the service dynamodbstreams."""

    deadline: Deadline

    def read(self, span: ShardRange) -> Reread:
        found: list[dict[str, Any]] = []
        end = self._walk(
            span, found, {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": span.first}
        )
        trimmed = end is _End.TRIMMED
        if trimmed:
            end = self._walk(span, found, {"ShardIteratorType": "TRIM_HORIZON"})
        # An open shard of which all is trimmed has no end to come to.
        if not found and (end is _End.GONE or (trimmed and end is _End.SHORT)):
            return Reread(records=(), trimmed=True)
        if end is not _End.REACHED:
            raise ThrottledError(f"The stream could not be read to the end of {span}; try again.")
        begins = sequence_number(found[0]) if found else None
        return Reread(records=tuple(found), trimmed=trimmed or begins != span.first)

    def _walk(self, span: ShardRange, found: list[dict[str, Any]], place: dict[str, str]) -> _End:
        """Adds the records of the range that are not yet found."""
        try:
            iterator = self._asked(
                "get_shard_iterator", StreamArn=span.stream, ShardId=span.shard_id, **place
            )["ShardIterator"]
            for _ in range(MOST_PAGES):
                page = self._asked("get_records", ShardIterator=iterator, Limit=PAGE)
                if _take(page["Records"], span, found):
                    return _End.REACHED
                iterator = page.get("NextShardIterator")
                if iterator is None:
                    return _End.SHORT
        except ClientError as error:
            if error_code(error) not in _ENDS:
                raise
            return _ENDS[error_code(error)]
        return _End.SHORT

    def _asked(self, operation: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - botocore's own
        if self.deadline.remaining() < ATTEMPT_SECONDS:
            raise ThrottledError("The time of the request was over before the stream was read.")
        with transient_as_throttled("The stream"):
            answer: dict[str, Any] = getattr(self.streams, operation)(**arguments)
        return answer


def _take(records: list[dict[str, Any]], span: ShardRange, found: list[dict[str, Any]]) -> bool:
    """Whether the range ends among these records."""
    last = int(span.last)
    for record in records:
        number = int(sequence_number(record))
        after = int(sequence_number(found[-1])) if found else int(span.first) - 1
        if after < number <= last:
            found.append(event_record(record, stream_arn=span.stream))
        if number >= last:
            return True
    return False
