"""A range of the stream is read exactly, without its neighbours, and trimming is detected."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from session_store.deadline import Deadline
from session_store.errors import ThrottledError
from session_store.storage.dynamodb.stream_history import MOST_PAGES, StreamHistory
from tests.support.dead_letters import SHARD, a_range
from tests.support.stream import STREAM

MOMENT = datetime(2027, 1, 15, 8, tzinfo=UTC)


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": 400}}, "GetRecords")  # type: ignore[typeddict-item] # no more is read


class FakeStreams:
    """Pages of sequence numbers, the oldest first. Iterators are positions among the pages."""

    def __init__(self, pages: Sequence[Sequence[int]], *, horizon: int = 0, closed: bool = False) -> None:
        self.pages = pages
        self.horizon = horizon
        self.closed = closed
        self.reads = 0
        self.before_read: Callable[[], None] = lambda: None

    def get_shard_iterator(self, **arguments: str) -> dict[str, Any]:
        assert (arguments["StreamArn"], arguments["ShardId"]) == (STREAM, SHARD)
        if arguments["ShardIteratorType"] == "AT_SEQUENCE_NUMBER":
            number = int(arguments["SequenceNumber"])
            if number < self.horizon:
                raise refusal("TrimmedDataAccessException")
            start = next(i for i, page in enumerate(self.pages) if not page or max(page) >= number)
            return {"ShardIterator": str(start)}
        assert arguments["ShardIteratorType"] == "TRIM_HORIZON"
        return {"ShardIterator": "0"}

    def get_records(self, **arguments: Any) -> dict[str, Any]:
        assert arguments["Limit"] == 1000
        self.reads += 1
        self.before_read()
        place = int(arguments["ShardIterator"])
        numbers = self.pages[place] if place < len(self.pages) else []
        records = [self._record(number) for number in numbers if number >= self.horizon]
        ended = self.closed and place >= len(self.pages) - 1
        return {"Records": records, **({} if ended else {"NextShardIterator": str(place + 1)})}

    @staticmethod
    def _record(number: int) -> dict[str, Any]:
        return {
            "eventID": str(number),
            "eventName": "INSERT",
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": "us-east-1",
            "dynamodb": {"SequenceNumber": str(number), "ApproximateCreationDateTime": MOMENT},
        }


def history(streams: FakeStreams, *, seconds: float | None = None) -> StreamHistory:
    deadline = Deadline(monotonic=lambda: 0)
    if seconds is not None:
        deadline.expires_in(seconds)
    return StreamHistory(streams=streams, deadline=deadline)


def read(streams: FakeStreams, first: int, last: int) -> tuple[list[int], bool]:
    found = history(streams).read(a_range(first, last))
    return [int(record["dynamodb"]["SequenceNumber"]) for record in found.records], found.trimmed


@pytest.mark.parametrize(
    "pages", [[[1, 2, 3, 4, 5, 6, 7, 8]], [[1, 2, 3], [4, 5], [6, 7, 8]], [[], [3], [], [], [4, 5, 6, 7]]]
)
def test_a_range_in_the_middle_of_a_shard_has_no_neighbours(pages: list[list[int]]) -> None:
    assert read(FakeStreams(pages), 3, 6) == ([3, 4, 5, 6], False)


def test_sequence_numbers_are_compared_as_numbers() -> None:
    assert read(FakeStreams([[98, 99, 100, 101]]), 99, 100) == ([99, 100], False)


def test_records_have_the_form_that_lambda_gives_them() -> None:
    (record,) = history(FakeStreams([[3]])).read(a_range(3, 3)).records
    assert record["eventSourceARN"] == STREAM
    assert record["dynamodb"]["ApproximateCreationDateTime"] == int(MOMENT.timestamp())


def test_nothing_is_read_past_the_end_of_the_range() -> None:
    streams = FakeStreams([[1, 2], [3, 4], [5, 6]])
    read(streams, 1, 4)
    assert streams.reads == 2


def test_the_rest_of_a_trimmed_range_is_read_and_reported_as_a_part() -> None:
    assert read(FakeStreams([[3, 4], [5, 6, 7, 8]], horizon=5), 3, 6) == ([5, 6], True)


@pytest.mark.parametrize(("pages", "closed"), [([[7, 8]], False), ([[]], False), ([[]], True)])
def test_a_range_without_any_records_left_is_trimmed(pages: list[list[int]], closed: bool) -> None:  # noqa: FBT001 - a parameter of pytest's
    assert read(FakeStreams(pages, horizon=7, closed=closed), 3, 6) == ([], True)


@pytest.mark.parametrize("where", ["get_shard_iterator", "get_records"])
def test_a_deleted_shard_is_trimmed(where: str) -> None:
    streams = FakeStreams([[3]])

    def gone(**_: object) -> dict[str, Any]:
        raise refusal("ResourceNotFoundException")

    setattr(streams, where, gone)
    assert read(streams, 3, 6) == ([], True)


def test_a_range_trimmed_during_the_read_keeps_what_was_read() -> None:
    streams = FakeStreams([[3], [4], [5], [6]])

    def trim() -> None:
        if streams.reads == 2:
            streams.horizon = 6
            raise refusal("TrimmedDataAccessException")

    streams.before_read = trim
    assert read(streams, 3, 6) == ([3, 6], True)


def test_a_range_whose_first_record_is_missing_is_reported_as_a_part() -> None:
    assert read(FakeStreams([[2, 4, 5]]), 3, 5) == ([4, 5], True)


@pytest.mark.parametrize("closed", [True, False])
def test_a_range_whose_end_cannot_be_reached_is_an_error(closed: bool) -> None:  # noqa: FBT001 - as above
    streams = FakeStreams([[3, 4]], closed=closed)
    with pytest.raises(ThrottledError, match="could not be read to the end"):
        read(streams, 3, 6)
    assert streams.reads <= MOST_PAGES


def test_a_shard_deleted_during_the_read_is_an_error() -> None:
    streams = FakeStreams([[3], [4]])

    def gone() -> None:
        if streams.reads == 2:
            raise refusal("ResourceNotFoundException")

    streams.before_read = gone
    with pytest.raises(ThrottledError):
        read(streams, 3, 4)


@pytest.mark.parametrize(
    "error",
    [
        refusal("LimitExceededException"),
        refusal("ExpiredIteratorException"),
        refusal("ThrottlingException"),
        ReadTimeoutError(endpoint_url="http://127.0.0.1"),
    ],
)
def test_a_throttled_stream_is_a_busy_store(error: Exception) -> None:
    streams = FakeStreams([[3]])

    def busy() -> None:
        raise error

    streams.before_read = busy
    with pytest.raises(ThrottledError, match="The stream is busy"):
        read(streams, 3, 3)


def test_a_permanent_refusal_passes_through() -> None:
    streams = FakeStreams([[3]])

    def denied() -> None:
        raise refusal("AccessDeniedException")

    streams.before_read = denied
    with pytest.raises(ClientError, match="AccessDenied"):
        read(streams, 3, 3)


def test_no_page_is_asked_for_without_the_time_for_it() -> None:
    streams = FakeStreams([[3]])
    with pytest.raises(ThrottledError, match="deadline passed"):
        history(streams, seconds=2).read(a_range(3, 3))
    assert streams.reads == 0
