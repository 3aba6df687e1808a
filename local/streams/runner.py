"""Runs one ordered reader per mapping and shard, and one sweeper per table, each in its own thread.

A reader that fails is reported and restarts at its last position; the others go on. A record is delivered at
least once.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from local.streams.backlog import Backlog, Backlogs, ResumedSource, drain
from local.streams.mapping import EventSourceMapping, StartingPosition
from local.streams.positions import Position, Positions
from local.streams.reader import READ_LIMIT, Pauses, Progress, RecordSource, ShardReader
from local.streams.source import Shard, readable_shards

Say = Callable[[str], None]
STOP_SECONDS: Final = 20.0
"""How long ``stop`` waits for running invocations; the batch of one that takes longer is delivered again."""

MAX_PAGES: Final = 1000
"""Pages of undelivered records kept per shard."""


class StoppableClock:
    """A ``reader.Clock`` in real time, shared by threads that stop together."""

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


class StreamReaders(Protocol):
    """A stream and its readers for one mapping. Called from several threads."""

    def shards(self) -> Sequence[Shard]: ...

    def ends(self) -> Mapping[str, Position]:
        """Return the current end of each shard."""

    def records(self, shard_id: str, *, after: str | None, allow_trimmed: bool) -> RecordSource:
        """Return the records after ``after``; with ``allow_trimmed`` it is no loss if that is trimmed."""

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
    stream: StreamReaders

    @property
    def key(self) -> str:
        """Includes the stream, since a table created again has another one."""
        return f"{self.mapping.name} {self.mapping.stream_arn}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """In seconds."""

    shards: float = 5.0
    """Between two searches for new shards."""

    sweep: float = 5.0
    restart: float = 1.0
    """Before a failed thread starts again."""

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
        """Start all threads; returns once the starting position of each new mapping is stored."""
        for delivery in self._deliveries:
            self._store_start(delivery)
            self._run(delivery.mapping.name, partial(self._follow, delivery))
        for sweeper in self._sweepers:
            self._run("ttl sweeper", partial(self._sweep, sweeper))

    def stop(self) -> None:
        """Stop all threads and save backlogs. Threads that do not end in time end with the process."""
        self._clock.stop()
        deadline = time.monotonic() + STOP_SECONDS
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        try:
            self._keep_backlogs()
        except Exception as error:  # noqa: BLE001 - an unreachable stream must not keep the rest from stopping
            self._say(f"undelivered records could not be saved: {type(error).__name__}: {error}")

    def _store_start(self, delivery: Delivery) -> None:
        """LATEST means the end at the mapping's first start; later shards are read from their start."""
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
        for shard in readable_shards(delivery.stream.shards(), finished=finished):
            reading = (delivery.key, shard.shard_id)
            if reading not in self._reading:
                self._reading.add(reading)
                self._run(
                    f"{delivery.mapping.name} {shard.shard_id}",
                    partial(self._read, delivery, shard.shard_id),
                )

    def _read(self, delivery: Delivery, shard_id: str) -> None:
        def checkpoint(sequence_number: str) -> None:
            self._positions.keep(delivery.key, {shard_id: Position(after=sequence_number)})

        reader = delivery.stream.reader(
            shard_id,
            records=self._undelivered(delivery, shard_id),
            checkpoint=checkpoint,
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
        saved = self._backlogs.of(delivery.key, shard_id)
        if saved is None:
            return delivery.stream.records(shard_id, after=after, allow_trimmed=False)
        backlog = saved.since(after)
        stream = delivery.stream.records(shard_id, after=backlog.end, allow_trimmed=saved.covers(after))
        return ResumedSource(backlog=backlog, stream=stream)

    def _keep_backlogs(self) -> None:
        """Save the undelivered records, since the stream's do not outlive this run."""
        backlogs: dict[str, dict[str, Backlog]] = {}
        for delivery in self._deliveries:
            positions = self._positions.of(delivery.key)
            finished = {shard for shard, position in positions.items() if position.finished}
            backlogs[delivery.key] = {
                shard.shard_id: Backlog(
                    after=positions.get(shard.shard_id, Position()).after,
                    records=drain(
                        self._undelivered(delivery, shard.shard_id), limit=READ_LIMIT, max_pages=MAX_PAGES
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
        thread = threading.Thread(target=self._run_until_done, args=(name, work), name=name, daemon=True)
        with self._lock:
            self._threads.append(thread)
            if not self._clock.stopped():
                thread.start()
            else:
                self._threads.remove(thread)

    def _run_until_done(self, name: str, work: Callable[[], None]) -> None:
        """Run ``work``, again after each failure, until it returns or all threads are to stop."""
        while not self._clock.stopped():
            try:
                work()
            except Exception as error:  # noqa: BLE001 - a failure of one thread must not stop delivery
                if self._clock.stopped():
                    return
                self._say(
                    f"{name}: {type(error).__name__}: {error}; restarting in {self._intervals.restart:g} s"
                )
                self._clock.sleep(self._intervals.restart)
            else:
                return
