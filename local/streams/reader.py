"""The ordered reader of one shard: what Lambda does between a stream and a function.

Rules: "Process DynamoDB records with Lambda", "Retain discarded records for a DynamoDB event source in
Lambda" and "Configuring partial batch response with DynamoDB and Lambda" (AWS Lambda Developer Guide).

A batch is retried until it succeeds, its attempts are used up, or its records are too old; then the shard
continues. Where the documentation is silent:

- the attempts of a batch continue to count when a partial failure shortens it;
- a split does not count as an attempt, and a half starts with none; a batch whose first record is reported
  as failed is halved like one that failed as a whole;
- records that are too old are discarded from the front of the batch before each invocation.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final, Protocol

from local.streams.discards import Condition
from local.streams.mapping import Settings
from local.streams.records import Record, created_at, sequence_number
from local.streams.responses import Answer, first_failure

READ_LIMIT: Final = 1000
"""Records per page, the maximum of GetRecords."""

PAYLOAD_LIMIT: Final = 6 * 1024 * 1024
"""Bytes of records per batch; a larger single record is a batch by itself."""


class UnreachedError(Exception):
    """The function did not run: throttled, missing or unreachable. Does not count as an attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    records: Sequence[Record] = ()
    ended: bool = False
    """The shard is closed, and these were its last records."""


class RecordSource(Protocol):
    def read(self, *, limit: int) -> Page:
        """The records after those read before; an empty page if there are none."""


class Function(Protocol):
    def invoke(self, event: Mapping[str, Any]) -> Answer:
        """Raises ``UnreachedError``."""


class Clock(Protocol):
    def now(self) -> float:
        """In seconds since the epoch."""

    def sleep(self, seconds: float) -> None:
        """Returns early when everything stops."""

    def stopped(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Discard:
    """Discarded records, in order."""

    records: Sequence[Record]
    condition: Condition
    invocations: int
    answer: Answer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """In seconds. Lambda's own grow to minutes, which is too long for a local stack."""

    poll: float = 0.25
    """Between empty reads: Lambda polls a shard four times a second."""

    first_retry: float = 0.05
    longest_retry: float = 2.0

    def before_retry(self, failures: int) -> float:
        return min(self.longest_retry, self.first_retry * 2.0 ** min(failures - 1, 30))


class Progress(Enum):
    IDLE = auto()
    """There were no records."""

    MOVED = auto()
    ENDED = auto()
    """The shard is closed and completely delivered."""

    STOPPED = auto()


@dataclass(slots=True, kw_only=True)
class _Batch:
    records: list[Record] = field(default_factory=list)
    size: int = 0
    through: str | None = None
    """The last record read, whether it passed the filters or not."""

    def has_room(self, size: int, *, settings: Settings) -> bool:
        if not self.records:
            return True
        return len(self.records) < settings.batch_size and self.size + size <= PAYLOAD_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slice:
    """Part of a batch, sent as a whole."""

    records: Sequence[Record]
    attempts: int = 0
    refusals: int = 0
    answer: Answer | None = None


@dataclass(slots=True, kw_only=True)
class ShardReader:
    """Delivers one shard to one function, one batch per call of ``deliver_next``."""

    settings: Settings
    source: RecordSource
    function: Function
    discard: Callable[[Discard], None]
    checkpoint: Callable[[str], None]
    """Called with the sequence number up to which everything is processed."""

    clock: Clock
    pauses: Pauses = field(default_factory=Pauses)
    _pending: deque[Record] = field(default_factory=deque)
    _ended: bool = False

    def deliver_next(self) -> Progress:
        """Collect one batch, and deliver or discard it. Exceptions of the ports pass through."""
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
        """A full batch, or the records of its window, which starts with the first record."""
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
        """Whether there are unread records."""
        if not self._pending and not self._ended:
            page = self.source.read(limit=READ_LIMIT)
            self._pending.extend(page.records)
            self._ended = page.ended
        return bool(self._pending)

    def _fill(self, batch: _Batch) -> bool:
        """Move read records into ``batch``; true when it is full."""
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
        """Deliver or discard each record, in order; false if interrupted by a stop."""
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
        self._give_up(part, part.records[:aged], Condition.RECORD_AGE_EXCEEDED)
        return replace(part, records=part.records[aged:])

    def _send(self, part: _Slice) -> list[_Slice]:
        """Send ``part``, and return what remains to be sent, in order."""
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
            self._give_up(rest, rest.records, Condition.RETRY_ATTEMPTS_EXHAUSTED)
            return []
        self.clock.sleep(self.pauses.before_retry(rest.attempts))
        return [rest]

    def _give_up(self, part: _Slice, records: Sequence[Record], condition: Condition) -> None:
        self.discard(
            Discard(records=records, condition=condition, invocations=part.attempts, answer=part.answer)
        )
        self.checkpoint(sequence_number(records[-1]))
