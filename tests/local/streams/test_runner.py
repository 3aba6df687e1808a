"""The runner reads shards in order, restarts failing readers, and continues after a restart."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local.streams.backlog import Backlogs
from local.streams.mapping import EventSourceMapping, MappingSettings, StartingPosition
from local.streams.positions import Positions
from local.streams.reader import Pauses
from local.streams.records import Record, sequence_number
from local.streams.runner import Delivery, Intervals, Runner, StoppableClock
from local.streams.source import Shard
from tests.support.mapped_stream import FakeStream
from tests.support.streams import STREAM_ARN, record

FAST = Intervals(
    shards=0.01, sweep=0.01, restart=0.01, reading=Pauses(poll=0.005, first_retry=0.005, longest_retry=0.01)
)
WAIT_SECONDS = 60


class Counting:
    def __init__(self, failures: int = 0) -> None:
        self.sweeps = 0
        self._failures = failures

    def sweep(self) -> int:
        self.sweeps += 1
        if self.sweeps <= self._failures:
            raise RuntimeError("no table")
        return 0


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.005)


@contextmanager
def running(
    stream: FakeStream,
    folder: Path,
    *,
    said: list[str] | None = None,
    sweepers: Sequence[Counting] = (),
    **settings: Any,
) -> Any:
    stream.clock = StoppableClock()
    mapping = EventSourceMapping(
        name="App/Mapping",
        function_arn="arn:aws:lambda:us-east-1:000000000000:function:consumer",
        stream_arn=STREAM_ARN,
        dead_letter_arn=None,
        settings=MappingSettings(**settings),
    )
    runner = Runner(
        deliveries=[Delivery(mapping=mapping, stream=stream)],
        sweepers=sweepers,
        positions=Positions(folder / "positions.json"),
        backlogs=Backlogs(folder / "backlogs.json"),
        clock=stream.clock,
        say=(said if said is not None else []).append,
        intervals=FAST,
    )
    runner.start()
    try:
        yield
    finally:
        runner.stop()


def shard(name: str = "one", parent: str | None = None) -> Shard:
    return Shard(shard_id=name, parent_id=parent)


def records(first: int, last: int) -> list[Record]:
    return [record(number) for number in range(first, last + 1)]


def test_a_restart_goes_on_where_the_last_run_ended(tmp_path: Path) -> None:
    stream = FakeStream({shard(): records(1, 3)})
    with running(stream, tmp_path):
        until(lambda: stream.delivered == [1, 2, 3])
    stream.content[shard()] += records(4, 5)
    with running(stream, tmp_path):
        until(lambda: len(stream.delivered) >= 5)
    assert stream.delivered == [1, 2, 3, 4, 5]


def test_a_child_shard_is_read_after_its_parent(tmp_path: Path) -> None:
    stream = FakeStream({shard("child", "parent"): records(4, 6), shard("parent"): records(1, 3)})
    with running(stream, tmp_path):
        until(lambda: stream.delivered == [1, 2, 3])
        time.sleep(0.05)
        assert stream.delivered == [1, 2, 3]
        stream.closed.add("parent")
        until(lambda: stream.delivered == [1, 2, 3, 4, 5, 6])


def test_a_finished_shard_is_not_read_again(tmp_path: Path) -> None:
    stream = FakeStream({shard(): records(1, 2)}, closed=["one"])
    with running(stream, tmp_path):
        until(lambda: Positions(tmp_path / "positions.json").of(f"App/Mapping {STREAM_ARN}") != {})
        until(lambda: Positions(tmp_path / "positions.json").of(f"App/Mapping {STREAM_ARN}")["one"].finished)
    with running(stream, tmp_path):
        time.sleep(0.05)
    assert stream.delivered == [1, 2]


def test_a_failing_reader_is_reported_and_restarted(tmp_path: Path) -> None:
    said: list[str] = []
    stream = FakeStream({shard(): records(1, 3)})
    stream.breaks = 2
    with running(stream, tmp_path, said=said):
        until(lambda: stream.delivered == [1, 2, 3])
    assert said == ["App/Mapping one: RuntimeError: broken; restarting in 0.01 s"] * 2


def test_latest_means_the_end_at_the_first_start_alone(tmp_path: Path) -> None:
    latest = StartingPosition.LATEST
    stream = FakeStream({shard(): records(1, 3)})
    with running(stream, tmp_path, starting_position=latest):
        stream.content[shard()] += records(4, 4)
        until(lambda: stream.delivered == [4])
    stream.content[shard()] += records(5, 6)
    with running(stream, tmp_path, starting_position=latest):
        until(lambda: stream.delivered == [4, 5, 6])


def test_a_disabled_mapping_delivers_nothing(tmp_path: Path) -> None:
    stream = FakeStream({shard(): records(1, 3)})
    with running(stream, tmp_path, enabled=False):
        time.sleep(0.05)
    assert stream.delivered == []


def test_a_failing_sweeper_is_restarted(tmp_path: Path) -> None:
    said: list[str] = []
    sweeper = Counting(failures=1)
    with running(FakeStream({}), tmp_path, said=said, sweepers=[sweeper]):
        until(lambda: sweeper.sweeps > 3)
    assert said == ["ttl sweeper: RuntimeError: no table; restarting in 0.01 s"]


def test_nothing_runs_after_a_stop(tmp_path: Path) -> None:
    sweeper = Counting()
    with running(FakeStream({shard(): records(1, 1)}), tmp_path, sweepers=[sweeper]):
        until(lambda: sweeper.sweeps > 0)
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith(("App/Mapping", "ttl sweeper"))]


def test_undelivered_records_outlive_a_lost_stream(tmp_path: Path) -> None:
    stream = FakeStream({shard(): records(1, 2)})
    with running(stream, tmp_path):
        until(lambda: stream.delivered == [1, 2])
    stream.breaks = 10**9
    stream.content[shard()] += records(3, 5)
    with running(stream, tmp_path):
        time.sleep(0.05)
    stream.breaks = 0
    stream.content[shard()] = records(6, 7)
    with running(stream, tmp_path):
        until(lambda: len(stream.delivered) >= 7)
    assert stream.delivered == [1, 2, 3, 4, 5, 6, 7]
    assert (sequence_number(record(5)), True) in stream.opened


def test_a_backlog_is_delivered_once(tmp_path: Path) -> None:
    stream = FakeStream({shard(): records(1, 3)})
    stream.breaks = 10**9
    with running(stream, tmp_path):
        time.sleep(0.05)
    stream.breaks, stream.content[shard()] = 0, []
    for _ in range(3):
        with running(stream, tmp_path):
            until(lambda: stream.delivered == [1, 2, 3])
            time.sleep(0.05)
    assert stream.delivered == [1, 2, 3]


def test_a_stream_out_of_reach_keeps_nothing_from_stopping(tmp_path: Path) -> None:
    said: list[str] = []

    class Gone(FakeStream):
        def shards(self) -> Sequence[Shard]:
            raise RuntimeError("gone")

    with running(Gone({}), tmp_path, said=said):
        until(lambda: bool(said))
    assert said[-1] == "undelivered records could not be saved: RuntimeError: gone"
