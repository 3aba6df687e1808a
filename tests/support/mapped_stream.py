"""A stream of several shards in memory, and the function that its records go to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from local.streams.mapping import MappingSettings
from local.streams.positions import Position
from local.streams.reader import Discard, Pauses, RecordPage, RecordSource, ShardReader
from local.streams.records import Record, sequence_number
from local.streams.responses import InvocationResult
from local.streams.runner import StoppableClock
from local.streams.source import Shard
from tests.support.streams import OK, numbers


class FakeStream:
    """Shards of records; those of ``closed`` end. The function fails as often as ``breaks`` says."""

    def __init__(self, shards: Mapping[Shard, list[Record]], *, closed: Sequence[str] = ()) -> None:
        self.content = dict(shards)
        self.closed = set(closed)
        self.delivered: list[int] = []
        self.breaks = 0
        self.opened: list[tuple[str | None, bool]] = []
        self.clock = StoppableClock()

    def shards(self) -> Sequence[Shard]:
        return tuple(self.content)

    def ends(self) -> Mapping[str, Position]:
        return {
            shard.shard_id: Position(after=sequence_number(records[-1]) if records else None)
            for shard, records in self.content.items()
        }

    def records(self, shard_id: str, *, after: str | None, allow_trimmed: bool) -> RecordSource:
        self.opened.append((after, allow_trimmed))
        return _Reading(self, shard_id, after)

    def reader(
        self, shard_id: str, *, records: RecordSource, checkpoint: Callable[[str], None], pauses: Pauses
    ) -> ShardReader:
        del shard_id
        return ShardReader(
            settings=MappingSettings(max_age=1e12),
            source=records,
            function=self,
            discard=_no_discard,
            checkpoint=checkpoint,
            clock=self.clock,
            pauses=pauses,
        )

    def invoke(self, event: Mapping[str, Any]) -> InvocationResult:
        if self.breaks:
            self.breaks -= 1
            raise RuntimeError("broken")
        self.delivered += numbers(event["Records"])
        return OK


class _Reading:
    def __init__(self, stream: FakeStream, shard_id: str, after: str | None) -> None:
        self._stream, self._shard_id, self._after = stream, shard_id, after

    def read(self, *, limit: int) -> RecordPage:
        (records,) = (
            found for shard, found in self._stream.content.items() if shard.shard_id == self._shard_id
        )
        due = [found for found in records if self._after is None or sequence_number(found) > self._after]
        if due:
            self._after = sequence_number(due[:limit][-1])
        return RecordPage(
            records=due[:limit], ended=self._shard_id in self._stream.closed and len(due) <= limit
        )


def _no_discard(discard: Discard) -> None:
    raise AssertionError(discard)
