"""A shard, a function and a clock in memory, for the reader of a shard."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from local.streams.mapping import MappingSettings
from local.streams.reader import Discard, Pauses, Progress, RecordPage, ShardReader, UnreachedError
from local.streams.records import Record, sequence_number
from local.streams.responses import InvocationResult

START: Final = 1_800_000_000.0
STREAM_ARN: Final = "arn:aws:dynamodb:us-east-1:000000000000:table/sessions/stream/2027-01-15T08:00:00.000"
MOST_STEPS: Final = 100_000


def record(number: int, *, created: float = START, event_name: str = "MODIFY", **change: Any) -> Record:
    return {
        "eventID": f"event-{number}",
        "eventName": event_name,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": created,
            "Keys": {"pk": {"S": f"item-{number}"}},
            "SequenceNumber": f"{number:021d}",
            "SizeBytes": 26,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
            **change,
        },
        "eventSourceARN": STREAM_ARN,
    }


def numbers(records: Sequence[Record]) -> list[int]:
    return [int(sequence_number(record)) for record in records]


@dataclass
class FakeClock:
    """Sleeping is what makes time pass."""

    time: float = START
    stop_at: float | None = None
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def stopped(self) -> bool:
        return self.stop_at is not None and self.time >= self.stop_at


@dataclass
class FakeShard:
    """Records appear as the clock reaches the time each is given for; it ends when there are no more."""

    clock: FakeClock
    records: Sequence[tuple[float, Record]]
    stays_open: bool = False
    place: int = 0

    def read(self, *, limit: int) -> RecordPage:
        due = [
            record
            for at, record in self.records[self.place : self.place + limit]
            if at <= self.clock.now() - START
        ]
        self.place += len(due)
        return RecordPage(records=due, ended=self.place == len(self.records) and not self.stays_open)


Behaviour = Callable[[Sequence[int]], InvocationResult]
"""What a function answers to a batch of these records."""


@dataclass
class FakeFunction:
    behaviour: Behaviour
    batches: list[list[int]] = field(default_factory=list)

    def invoke(self, event: Mapping[str, Any]) -> InvocationResult:
        self.batches.append(numbers(event["Records"]))
        return self.behaviour(self.batches[-1])


OK: Final = InvocationResult(request_id="request-ok")
RAISED: Final = InvocationResult(
    request_id="request-failed", function_error="Unhandled", payload=b'{"errorMessage": "no"}'
)


def succeeds(_batch: Sequence[int]) -> InvocationResult:
    return OK


def refuses(_batch: Sequence[int]) -> InvocationResult:
    raise UnreachedError("throttled")


def fails_on(*poison: int) -> Behaviour:
    """Raises whenever one of these records is in the batch."""
    return lambda batch: RAISED if set(poison) & set(batch) else OK


def times(outcomes: Mapping[int, InvocationResult]) -> Behaviour:
    """By invocation, the first being 1; success where nothing is said."""
    calls = iter(range(1, MOST_STEPS))
    return lambda _batch: outcomes.get(next(calls), OK)


@dataclass
class Delivered:
    """A reader at work on records 1, 2, 3 and so on, and what came of it."""

    function: FakeFunction
    reader: ShardReader
    clock: FakeClock
    discards: list[Discard] = field(default_factory=list)
    checkpoints: list[int] = field(default_factory=list)

    @property
    def batches(self) -> list[list[int]]:
        return self.function.batches

    @property
    def discarded(self) -> list[list[int]]:
        return [numbers(discard.records) for discard in self.discards]

    def to_the_end(self) -> "Delivered":
        for _ in range(MOST_STEPS):
            if self.reader.deliver_next() in {Progress.ENDED, Progress.STOPPED, Progress.IDLE}:
                return self
        raise AssertionError("the shard is blocked")


def delivery(
    records: Sequence[Record] | int,
    behaviour: Behaviour = succeeds,
    *,
    arrivals: Sequence[float] = (),
    stop_at: float | None = None,
    stays_open: bool = False,
    **settings: Any,
) -> Delivered:
    """``records`` may be their count; ``arrivals`` are seconds after ``START``, 0 where nothing is said."""
    made = [record(number) for number in range(1, records + 1)] if isinstance(records, int) else records
    times_of = [*arrivals, *[0.0] * (len(made) - len(arrivals))]
    clock = FakeClock(stop_at=None if stop_at is None else START + stop_at)
    discards: list[Discard] = []
    checkpoints: list[int] = []
    function = FakeFunction(behaviour)
    reader = ShardReader(
        settings=MappingSettings(**settings),
        source=FakeShard(clock, list(zip(times_of, made, strict=True)), stays_open=stays_open),
        function=function,
        discard=discards.append,
        checkpoint=lambda number: checkpoints.append(int(number)),
        clock=clock,
        pauses=Pauses(poll=0.25, first_retry=1.0, longest_retry=4.0),
    )
    return Delivered(function, reader, clock, discards, checkpoints)
