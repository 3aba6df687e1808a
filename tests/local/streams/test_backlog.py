"""Undelivered records are kept from one run to the next."""

from pathlib import Path

import pytest

from local.streams.backlog import Backlog, Backlogs, ResumedSource, drain
from local.streams.reader import RecordPage
from local.streams.records import Record, sequence_number
from tests.support.streams import FakeClock, FakeShard, numbers, record


def made(*numbers: int) -> tuple[Record, ...]:
    return tuple(record(number) for number in numbers)


def number(value: int) -> str:
    return sequence_number(record(value))


def test_a_backlog_is_found_again_by_mapping_and_shard(tmp_path: Path) -> None:
    backlog = Backlog(after=number(3), records=made(4, 5))
    Backlogs(tmp_path / "backlogs.json").keep({"audit": {"one": backlog, "two": Backlog()}})
    again = Backlogs(tmp_path / "backlogs.json")
    assert again.of("audit", "one") == backlog
    assert again.of("audit", "two") == Backlog()
    assert again.of("audit", "three") is None


@pytest.mark.parametrize(
    ("after", "left"),
    [
        (number(3), [4, 5, 6]),
        (number(4), [5, 6]),
        (number(6), []),
        (number(9), []),
    ],
)
def test_records_that_a_later_run_handled_are_left_out(after: str, left: list[int]) -> None:
    backlog = Backlog(after=number(3), records=made(4, 5, 6))
    assert numbers(backlog.since(after).records) == left
    assert backlog.since(after).after == after


@pytest.mark.parametrize(("after", "covered"), [(number(3), True), (number(6), True), (number(9), False)])
def test_whether_anything_between_could_be_missing_is_known(after: str, *, covered: bool) -> None:
    assert Backlog(after=number(3), records=made(4, 5, 6)).covers(after) is covered


def test_the_stream_is_read_after_the_backlog() -> None:
    stream = FakeShard(FakeClock(), [(0.0, one) for one in made(6, 7)])
    resumed = ResumedSource(backlog=Backlog(records=made(3, 4, 5)), stream=stream)
    pages = [resumed.read(limit=2) for _ in range(3)]
    assert [numbers(page.records) for page in pages] == [[3, 4], [5], [6, 7]]
    assert [page.ended for page in pages] == [False, False, True]


def test_draining_ends_at_an_empty_page_and_at_its_most_pages() -> None:
    stream = FakeShard(FakeClock(), [(0.0, one) for one in made(1, 2, 3, 4, 5)], stays_open=True)
    assert numbers(drain(stream, limit=2, max_pages=2)) == [1, 2, 3, 4]
    assert numbers(drain(stream, limit=2, max_pages=9)) == [5]
    assert stream.read(limit=2) == RecordPage(records=[])
