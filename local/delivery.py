"""Stream delivery and TTL for the stacks deployed in the emulator."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from local.credentials import REGION
from local.deployment import DEPLOYED_TEMPLATES
from local.emulator import ACCOUNT, Emulator
from local.streams.backlog import Backlogs
from local.streams.deployed import INVOKING, DeadLetterSender, LambdaFunction, Stacks
from local.streams.mapping import EventSourceMapping
from local.streams.positions import Position, Positions
from local.streams.reader import Pauses, ReaderClock, RecordSource, ShardReader
from local.streams.references import AwsEnvironment, resolve
from local.streams.runner import Delivery, Intervals, Runner, Say, StoppableClock
from local.streams.source import Shard, ShardSource, Stream, shard_ends
from local.streams.sweeper import Sweeper
from local.streams.swept import SweptRecords
from local.streams.templates import MANIFEST, read_stacks


@contextlib.contextmanager
def delivering(
    emulator: Emulator,
    *,
    ttl_tables: Sequence[str],
    ttl_attribute: str,
    say: Say,
    intervals: Intervals | None = None,
) -> Iterator[Sequence[EventSourceMapping]]:
    """Deliver streams and delete expired items for the time of the block.

    The mappings, possibly none, come from the templates that ``deployment`` kept.

    Raises:
        MappingError: AWS would refuse a mapping, or it is not supported here.
    """
    state = emulator.state / "streams"
    clock = StoppableClock()
    swept = SweptRecords(state / "swept.jsonl")
    mappings = _mappings(emulator)
    runner = Runner(
        deliveries=[
            Delivery(
                mapping=mapping,
                stream=_EmulatedStream.on(emulator, mapping, swept=swept, clock=clock, say=say),
            )
            for mapping in mappings
        ],
        sweepers=[
            Sweeper(
                dynamodb=emulator.client("dynamodb"),
                streams=emulator.client("dynamodbstreams"),
                table=table,
                attribute=ttl_attribute,
                swept=swept,
                say=say,
                sleep=clock.sleep,
            )
            for table in ttl_tables
        ],
        positions=Positions(state / "positions.json"),
        backlogs=Backlogs(state / "backlogs.json"),
        clock=clock,
        say=say,
        intervals=intervals,
    )
    try:
        runner.start()
        yield mappings
    finally:
        runner.stop()


def _mappings(emulator: Emulator) -> Sequence[EventSourceMapping]:
    folder: Path = emulator.state / DEPLOYED_TEMPLATES
    if not (folder / MANIFEST).exists():
        return ()
    deployed = Stacks(cloudformation=emulator.client("cloudformation"), dynamodb=emulator.client("dynamodb"))
    return resolve(
        read_stacks(folder), deployed=deployed, environment=AwsEnvironment(region=REGION, account=ACCOUNT)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _EmulatedStream:
    """``runner.StreamReaders`` on the emulator. Each reader has its own clients and connections."""

    emulator: Emulator
    mapping: EventSourceMapping
    stream: Stream
    swept: SweptRecords
    clock: ReaderClock
    say: Say

    @classmethod
    def on(
        cls,
        emulator: Emulator,
        mapping: EventSourceMapping,
        *,
        swept: SweptRecords,
        clock: ReaderClock,
        say: Say,
    ) -> "_EmulatedStream":
        stream = Stream(client=emulator.client("dynamodbstreams"), arn=mapping.stream_arn)
        return cls(emulator=emulator, mapping=mapping, stream=stream, swept=swept, clock=clock, say=say)

    def shards(self) -> Sequence[Shard]:
        return self.stream.shards()

    def ends(self) -> Mapping[str, Position]:
        return shard_ends(self.stream)

    def records(self, shard_id: str, *, after: str | None, allow_trimmed: bool) -> RecordSource:
        client = self.emulator.client("dynamodbstreams")
        return ShardSource(
            stream=Stream(client=client, arn=self.mapping.stream_arn),
            shard_id=shard_id,
            after=after,
            swept=self.swept,
            say=self.say,
            allow_trimmed=allow_trimmed,
        )

    def reader(
        self, shard_id: str, *, records: RecordSource, checkpoint: Callable[[str], None], pauses: Pauses
    ) -> ShardReader:
        client = self.emulator.client
        letters = DeadLetterSender(
            sqs=client("sqs"), mapping=self.mapping, shard_id=shard_id, clock=self.clock, say=self.say
        )
        return ShardReader(
            settings=self.mapping.settings,
            source=records,
            function=LambdaFunction(client=client("lambda", config=INVOKING), arn=self.mapping.function_arn),
            discard=letters.discard,
            checkpoint=checkpoint,
            clock=self.clock,
            pauses=pauses,
        )
