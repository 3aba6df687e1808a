"""The ordered reader of one shard: Lambda's rules for delivering a stream to a function.

Rules: "Process DynamoDB records with Lambda", "Retain discarded records for a DynamoDB event source in
Lambda" and "Configuring partial batch response with DynamoDB and Lambda" (AWS Lambda Developer Guide).

A batch is retried until it succeeds, its attempts are exhausted or its records are too old; then the shard
goes on. Where the documents leave it open:

- the attempts of a batch keep counting when a partial failure shortens it;
- a split is not an attempt, and each half starts with none; a batch whose first record failed is halved like
  one that failed as a whole;
- records that are too old are discarded from the front of the batch before each invocation.
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
"""Records per page, the maximum of GetRecords."""

PAYLOAD_LIMIT: Final = 6 * 1024 * 1024
"""Bytes of records per batch; a single record may exceed it."""


class UnreachedError(Exception):
    """The function was not run: throttled, missing or unreachable. Does not count as an attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    records: Sequence[Record] = ()
    ended: bool = False
    """The shard is closed, and these were its last records."""


class RecordSource(Protocol):
    def read(self, *, limit: int) -> RecordPage:
        """Read the next records; an empty page if there are no new ones."""


class Function(Protocol):
    def invoke(self, event: Mapping[str, Any]) -> InvocationResult:
        """Run the function. Raises ``UnreachedError``."""


class ReaderClock(Protocol):
    def now(self) -> float:
        """Return the time in seconds since the epoch."""

    def sleep(self, seconds: float) -> None:
        """Sleep; returns early when reading is to stop."""

    def stopped(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Discard:
    """Consecutive records that will not be delivered."""

    records: Sequence[Record]
    condition: DiscardCondition
    invocations: int
    answer: InvocationResult | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """Pauses in seconds. Lambda's own retries grow to minutes, which is too long on one machine."""

    poll: float = 0.25
    """Between empty reads; Lambda polls a shard four times a second."""

    first_retry: float = 0.05
    longest_retry: float = 2.0

    def before_retry(self, failures: int) -> float:
        return min(self.longest_retry, self.first_retry * 2.0 ** min(failures - 1, 30))


class Progress(Enum):
    IDLE = auto()
    """There were no records to read."""

    MOVED = auto()
    ENDED = auto()
    """The shard is closed and all of it has been delivered."""

    STOPPED = auto()


@dataclass(slots=True, kw_only=True)
class _Batch:
    records: list[Record] = field(default_factory=list)
    size: int = 0
    through: str | None = None
    """The last record read, whether it passed the filters or not."""

    def has_room(self, size: int, *, settings: MappingSettings) -> bool:
        if not self.records:
            return True
        return len(self.records) < settings.batch_size and self.size + size <= PAYLOAD_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slice:
    """Part of a batch, sent in one invocation."""

    records: Sequence[Record]
    attempts: int = 0
    refusals: int = 0
    answer: InvocationResult | None = None


@dataclass(slots=True, kw_only=True)
class ShardReader:
    """Delivers one shard to one function, one batch per call of ``deliver_next``."""

    settings: MappingSettings
    source: RecordSource
    function: Function
    discard: Callable[[Discard], None]
    checkpoint: Callable[[str], None]
    """Called with the sequence number up to which delivery is finished."""

    clock: ReaderClock
    pauses: Pauses = field(default_factory=Pauses)
    _pending: deque[Record] = field(default_factory=deque)
    _ended: bool = False

    def deliver_next(self) -> Progress:
        """Gather one batch and deliver or discard it. Exceptions of the ports pass through."""
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
        """Gather a full batch, or what arrives within the window that starts with its first record."""
        batch = _Batch()
        window_end: float | None = None
        while not self.clock.stopped():
            has_records = self._read()
            if self._fill(batch):
                break
            now = self.clock.now()
            if window_end is None and batch.records:
                window_end = now + self.settings.window
            if self._ended or window_end is None or now >= window_end:
                break
            if not has_records:
                self.clock.sleep(min(self.pauses.poll, window_end - now))
        return batch

    def _read(self) -> bool:
        """Read records if none are pending; return whether there are any."""
        if not self._pending and not self._ended:
            page = self.source.read(limit=READ_LIMIT)
            self._pending.extend(page.records)
            self._ended = page.ended
        return bool(self._pending)

    def _fill(self, batch: _Batch) -> bool:
        """Move pending records into ``batch``; return whether it is full."""
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
        """Deliver or discard each record, in order; False if reading was stopped before the end."""
        waiting = [_Slice(records=records)]
        while waiting:
            if self.clock.stopped():
                return False
            part = self._discard_aged(waiting.pop())
            if part.records:
                waiting.extend(reversed(self._send(part)))
        return True

    def _discard_aged(self, part: _Slice) -> _Slice:
        oldest = self.clock.now() - self.settings.max_age
        aged = 0
        while aged < len(part.records) and created_at(part.records[aged]) < oldest:
            aged += 1
        if not aged:
            return part
        self._discard(part, part.records[:aged], DiscardCondition.RECORD_AGE_EXCEEDED)
        return replace(part, records=part.records[aged:])

    def _send(self, part: _Slice) -> list[_Slice]:
        """Invoke the function with ``part`` and return what is still to be sent, in order."""
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
        return self._retries(rest, shortened=failed > 0)

    def _retries(self, rest: _Slice, *, shortened: bool) -> list[_Slice]:
        if self.settings.bisects and shortened:
            return [_Slice(records=rest.records, answer=rest.answer)]
        if self.settings.bisects and len(rest.records) > 1:
            middle = len(rest.records) // 2
            halves = (rest.records[:middle], rest.records[middle:])
            return [_Slice(records=half, answer=rest.answer) for half in halves]
        limit = self.settings.max_retries
        if limit is not None and rest.attempts > limit:
            self._discard(rest, rest.records, DiscardCondition.RETRY_ATTEMPTS_EXHAUSTED)
            return []
        self.clock.sleep(self.pauses.before_retry(rest.attempts))
        return [rest]

    def _discard(self, part: _Slice, records: Sequence[Record], condition: DiscardCondition) -> None:
        self.discard(
            Discard(records=records, condition=condition, invocations=part.attempts, answer=part.answer)
        )
        self.checkpoint(sequence_number(records[-1]))
