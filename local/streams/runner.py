"""One ordered reader per mapping and shard, and one sweeper per table, each in a thread of its own.

An error in a reader is reported, and the reader restarts at its last position; the others continue. Records
are delivered at least once.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from local.streams.backlog import Backlog, Backlogs, Resumed, drained
from local.streams.mapping import EventSourceMapping, StartingPosition
from local.streams.positions import Position, Positions
from local.streams.reader import READ_LIMIT, Pauses, Progress, RecordSource, ShardReader
from local.streams.source import Shard, readable

Say = Callable[[str], None]
STOP_SECONDS: Final = 20.0
"""How long ``stop`` waits for running invocations. What they deliver later is delivered again."""

MOST_PAGES: Final = 1000
"""Pages of undelivered records that are saved per shard."""


class StoppableClock:
    """``reader.Clock`` in real time, shared by threads that stop together."""

    def __init__(self) -> None:
        self._stop = threading.Event()

    def now(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        self._stop.wait(seconds)

    def stopped(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        self._stop.set()


class MappedStream(Protocol):
    """A stream, as the readers of one mapping use it, from several threads."""

    def shards(self) -> Sequence[Shard]: ...

    def ends(self) -> Mapping[str, Position]:
        """The current end of each shard."""

    def records(self, shard_id: str, *, after: str | None, begins_anew: bool) -> RecordSource:
        """The records after ``after``; with ``begins_anew`` the stream need not have that one."""

    def reader(
        self,
        shard_id: str,
        *,
        records: RecordSource,
        checkpoint: Callable[[str], None],
        pauses: Pauses,
    ) -> ShardReader: ...


class Sweeping(Protocol):
    def sweep(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A mapping and the stream it reads."""

    mapping: EventSourceMapping
    stream: MappedStream

    @property
    def key(self) -> str:
        """Positions are per stream: a recreated table has another."""
        return f"{self.mapping.name} {self.mapping.stream_arn}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """In seconds."""

    shards: float = 5.0
    """Between two checks for new shards."""

    sweep: float = 5.0
    restart: float = 1.0
    """Before a failed thread restarts."""

    reading: Pauses = field(default_factory=Pauses)


class Runner:
    """Runs once, from ``start`` to ``stop``."""

    def __init__(
        self,
        *,
        deliveries: Sequence[Delivery],
        sweepers: Sequence[Sweeping],
        positions: Positions,
        backlogs: Backlogs,
        clock: StoppableClock,
        say: Say,
        intervals: Intervals | None = None,
    ) -> None:
        self._deliveries = [delivery for delivery in deliveries if delivery.mapping.settings.enabled]
        self._sweepers = sweepers
        self._positions = positions
        self._backlogs = backlogs
        self._clock = clock
        self._say = say
        self._intervals = intervals or Intervals()
        self._threads: list[threading.Thread] = []
        self._reading: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Returns when the start of each new mapping is determined."""
        for delivery in self._deliveries:
            self._settle_start(delivery)
            self._run(delivery.mapping.name, partial(self._follow, delivery))
        for sweeper in self._sweepers:
            self._run("ttl sweeper", partial(self._sweep, sweeper))

    def stop(self) -> None:
        """Threads that do not end in time are abandoned; they are daemons."""
        self._clock.stop()
        deadline = time.monotonic() + STOP_SECONDS
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        try:
            self._keep_backlogs()
        except Exception as error:  # noqa: BLE001 - a stream out of reach must not keep the rest from stopping
            self._say(f"undelivered records could not be saved: {type(error).__name__}: {error}")

    def _settle_start(self, delivery: Delivery) -> None:
        """LATEST is the end at the mapping's first start, not at each; later shards are read completely."""
        latest = delivery.mapping.settings.starting_position is StartingPosition.LATEST
        if latest and not self._positions.of(delivery.key):
            self._positions.keep(delivery.key, delivery.stream.ends())

    def _follow(self, delivery: Delivery) -> None:
        while not self._clock.stopped():
            self._start_readers(delivery)
            self._clock.sleep(self._intervals.shards)

    def _start_readers(self, delivery: Delivery) -> None:
        finished = {
            shard for shard, position in self._positions.of(delivery.key).items() if position.finished
        }
        for shard in readable(delivery.stream.shards(), finished=finished):
            reading = (delivery.key, shard.shard_id)
            if reading not in self._reading:
                self._reading.add(reading)
                self._run(
                    f"{delivery.mapping.name} {shard.shard_id}",
                    partial(self._read, delivery, shard.shard_id),
                )

    def _read(self, delivery: Delivery, shard_id: str) -> None:
        def done(sequence_number: str) -> None:
            self._positions.keep(delivery.key, {shard_id: Position(after=sequence_number)})

        reader = delivery.stream.reader(
            shard_id,
            records=self._undelivered(delivery, shard_id),
            checkpoint=done,
            pauses=self._intervals.reading,
        )
        while True:
            match reader.deliver_next():
                case Progress.IDLE:
                    self._clock.sleep(self._intervals.reading.poll)
                case Progress.MOVED:
                    pass
                case Progress.STOPPED:
                    return
                case Progress.ENDED:
                    after = self._positions.of(delivery.key).get(shard_id, Position()).after
                    self._positions.keep(delivery.key, {shard_id: Position(after=after, finished=True)})
                    return

    def _undelivered(self, delivery: Delivery, shard_id: str) -> RecordSource:
        after = self._positions.of(delivery.key).get(shard_id, Position()).after
        kept = self._backlogs.of(delivery.key, shard_id)
        if kept is None:
            return delivery.stream.records(shard_id, after=after, begins_anew=False)
        backlog = kept.since(after)
        stream = delivery.stream.records(shard_id, after=backlog.end, begins_anew=kept.covers(after))
        return Resumed(backlog=backlog, stream=stream)

    def _keep_backlogs(self) -> None:
        """Save undelivered records: the stream may not outlive this run."""
        backlogs: dict[str, dict[str, Backlog]] = {}
        for delivery in self._deliveries:
            positions = self._positions.of(delivery.key)
            finished = {shard for shard, position in positions.items() if position.finished}
            backlogs[delivery.key] = {
                shard.shard_id: Backlog(
                    after=positions.get(shard.shard_id, Position()).after,
                    records=drained(
                        self._undelivered(delivery, shard.shard_id), limit=READ_LIMIT, most_pages=MOST_PAGES
                    ),
                )
                for shard in delivery.stream.shards()
                if shard.shard_id not in finished
            }
        self._backlogs.keep(backlogs)

    def _sweep(self, sweeper: Sweeping) -> None:
        while not self._clock.stopped():
            sweeper.sweep()
            self._clock.sleep(self._intervals.sweep)

    def _run(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=self._persist, args=(name, work), name=name, daemon=True)
        with self._lock:
            self._threads.append(thread)
            if not self._clock.stopped():
                thread.start()
            else:
                self._threads.remove(thread)

    def _persist(self, name: str, work: Callable[[], None]) -> None:
        """Repeats ``work`` until it is done or everything stops."""
        while not self._clock.stopped():
            try:
                work()
            except Exception as error:  # noqa: BLE001 - whatever breaks one thread must not stop delivery
                if self._clock.stopped():
                    return
                self._say(
                    f"{name}: {type(error).__name__}: {error}; retrying in {self._intervals.restart:g} s"
                )
                self._clock.sleep(self._intervals.restart)
            else:
                return
