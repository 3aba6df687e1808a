"""The ordered reader of one shard: what Lambda does between a stream and a function.

Rules: "Process DynamoDB records with Lambda", "Retain discarded records for a DynamoDB event source in
Lambda" and "Configuring partial batch response with DynamoDB and Lambda" (AWS Lambda Developer Guide).

A batch is retried until it succeeds, until its attempts are used up, or until its records are too old; then
the shard goes on. Where the documents are silent:

- the attempts of a batch go on counting when a partial failure shortens it;
- a split does not count as an attempt, and a half begins with none; a batch whose first record is reported
  as failed has no records to let go, and is halved like one that failed whole;
- records too old are discarded from the front of the batch before each invocation, the rest goes on.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final, Protocol

from local.streams.discards import DiscardCondition
from local.streams.mapping import MappingSettings
from local.streams.records import Record, created_at, sequence_number
from local.streams.responses import InvocationResult, first_failure

READ_LIMIT: Final = 1000
"""Records a page, the most that GetRecords gives."""

PAYLOAD_LIMIT: Final = 6 * 1024 * 1024
"""Bytes of records a batch; a single record larger than that is a batch by itself."""


class UnreachedError(Exception):
    """The function was not run: throttled, missing, or out of reach. Costs no attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    records: Sequence[Record] = ()
    ended: bool = False
    """The shard is closed, and these were its last records."""


class RecordSource(Protocol):
    def read(self, *, limit: int) -> RecordPage:
        """What follows the records read before; an empty page where there is nothing new."""


class Function(Protocol):
    def invoke(self, event: Mapping[str, Any]) -> InvocationResult:
        """Raises ``UnreachedError``."""


class Clock(Protocol):
    def now(self) -> float:
        """In seconds since the epoch."""

    def sleep(self, seconds: float) -> None:
        """Ends early when all is to stop."""

    def stopped(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Discard:
    """Records that were given up, in their order."""

    records: Sequence[Record]
    condition: DiscardCondition
    invocations: int
    answer: InvocationResult | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """In seconds. Lambda's own grow to minutes; on one machine nobody waits for that."""

    poll: float = 0.25
    """Between reads that found nothing: Lambda reads a shard four times a second."""

    first_retry: float = 0.05
    longest_retry: float = 2.0

    def before_retry(self, failures: int) -> float:
        return min(self.longest_retry, self.first_retry * 2.0 ** min(failures - 1, 30))


class Progress(Enum):
    IDLE = auto()
    """There was nothing to read."""

    MOVED = auto()
    ENDED = auto()
    """The shard is closed and all of it has been delivered."""

    STOPPED = auto()


@dataclass(slots=True, kw_only=True)
class _Batch:
    records: list[Record] = field(default_factory=list)
    size: int = 0
    through: str | None = None
    """The last record looked at, whether it passed the filters or not."""

    def has_room(self, size: int, *, settings: MappingSettings) -> bool:
        if not self.records:
            return True
        return len(self.records) < settings.batch_size and self.size + size <= PAYLOAD_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slice:
    """Part of a batch, sent as a whole."""

    records: Sequence[Record]
    attempts: int = 0
    refusals: int = 0
    answer: InvocationResult | None = None


@dataclass(slots=True, kw_only=True)
class ShardReader:
    """Delivers one shard to one function, a batch a call of ``deliver_next``."""

    settings: MappingSettings
    source: RecordSource
    function: Function
    discard: Callable[[Discard], None]
    checkpoint: Callable[[str], None]
    """Told the sequence number up to which nothing need be delivered again."""

    clock: Clock
    pauses: Pauses = field(default_factory=Pauses)
    _pending: deque[Record] = field(default_factory=deque)
    _ended: bool = False

    def deliver_next(self) -> Progress:
        """Gather one batch and see it delivered or discarded. What the ports raise passes through."""
        batch = self._gather()
        if self.clock.stopped():
            return Progress.STOPPED
        if batch.records and not self._dispose(batch.records):
            return Progress.STOPPED
        if batch.through is not None:
            self.checkpoint(batch.through)
            return Progress.MOVED
        return Progress.ENDED if self._ended else Progress.IDLE

    def _gather(self) -> _Batch:
        """A full batch, or what came before its window ended; the window begins with its first record."""
        batch = _Batch()
        window_end: float | None = None
        while not self.clock.stopped():
            found = self._read()
            if self._fill(batch):
                break
            now = self.clock.now()
            if window_end is None and batch.records:
                window_end = now + self.settings.window
            if self._ended or window_end is None or now >= window_end:
                break
            if not found:
                self.clock.sleep(min(self.pauses.poll, window_end - now))
        return batch

    def _read(self) -> bool:
        """Whether there are records to look at."""
        if not self._pending and not self._ended:
            page = self.source.read(limit=READ_LIMIT)
            self._pending.extend(page.records)
            self._ended = page.ended
        return bool(self._pending)

    def _fill(self, batch: _Batch) -> bool:
        """Move records from those read into ``batch``; true when it is full."""
        while self._pending:
            record = self._pending[0]
            if self.settings.filters.admits(record):
                size = len(json.dumps(record).encode())
                if not batch.has_room(size, settings=self.settings):
                    return True
                batch.records.append(record)
                batch.size += size
            batch.through = sequence_number(record)
            self._pending.popleft()
        return len(batch.records) >= self.settings.batch_size

    def _dispose(self, records: Sequence[Record]) -> bool:
        """Each record delivered or discarded, in order; false where a stop came in between."""
        waiting = [_Slice(records=records)]
        while waiting:
            if self.clock.stopped():
                return False
            part = self._without_aged(waiting.pop())
            if part.records:
                waiting.extend(reversed(self._send(part)))
        return True

    def _without_aged(self, part: _Slice) -> _Slice:
        oldest = self.clock.now() - self.settings.max_age
        aged = 0
        while aged < len(part.records) and created_at(part.records[aged]) < oldest:
            aged += 1
        if not aged:
            return part
        self._give_up(part, part.records[:aged], DiscardCondition.RECORD_AGE_EXCEEDED)
        return replace(part, records=part.records[aged:])

    def _send(self, part: _Slice) -> list[_Slice]:
        """What of ``part`` is still to be sent, in order."""
        try:
            answer = self.function.invoke({"Records": list(part.records)})
        except UnreachedError:
            refusals = part.refusals + 1
            self.clock.sleep(self.pauses.before_retry(refusals))
            return [replace(part, refusals=refusals)]
        numbers = [sequence_number(record) for record in part.records]
        failed = first_failure(answer, numbers, reports_failures=self.settings.reports_failures)
        if failed is None:
            self.checkpoint(numbers[-1])
            return []
        if failed:
            self.checkpoint(numbers[failed - 1])
        rest = _Slice(records=part.records[failed:], attempts=part.attempts + 1, answer=answer)
        return self._again(rest, shortened=failed > 0)

    def _again(self, rest: _Slice, *, shortened: bool) -> list[_Slice]:
        if self.settings.bisects and shortened:
            return [_Slice(records=rest.records, answer=rest.answer)]
        if self.settings.bisects and len(rest.records) > 1:
            middle = len(rest.records) // 2
            halves = (rest.records[:middle], rest.records[middle:])
            return [_Slice(records=half, answer=rest.answer) for half in halves]
        limit = self.settings.max_retries
        if limit is not None and rest.attempts > limit:
            self._give_up(rest, rest.records, DiscardCondition.RETRY_ATTEMPTS_EXHAUSTED)
            return []
        self.clock.sleep(self.pauses.before_retry(rest.attempts))
        return [rest]

    def _give_up(self, part: _Slice, records: Sequence[Record], condition: DiscardCondition) -> None:
        self.discard(
            Discard(records=records, condition=condition, invocations=part.attempts, answer=part.answer)
        )
        self.checkpoint(sequence_number(records[-1]))
