"""Redrive of stream records: ranges that were given up, read again and handed to the consumer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.dead_letter import Outcome, Reread, ShardRange
from session_store.domain.json_values import encode
from session_store.errors import ThrottledError
from session_store.ports import StreamHistory, StreamReplay
from session_store.schema import HEARTBEAT_PK_PREFIX, Attribute

BATCH: Final = 100
BATCH_BYTES: Final = 5 * 1024 * 1024
"""Below the 6 MB limit of an invocation; a single record, with both its images, is far smaller."""

Record = Mapping[str, Any]


class Replay(Struct, frozen=True, kw_only=True):
    """The outcome of one range. ``records``: how many the consumer accepted."""

    outcome: Outcome
    records: int
    detail: str | None


class Replays(Struct, frozen=True, kw_only=True):
    """Replays ranges. A record replayed twice is audited once, since the consumer is idempotent."""

    history: StreamHistory
    consumer: StreamReplay
    deadline: Deadline
    batch_seconds: float
    """How long one batch may take, with the work that follows it."""

    def run(self, span: ShardRange) -> Replay:
        """Replay in order what the stream still has of a range, up to the first failure.

        Raises:
            ThrottledError: the stream could not be read now.
        """
        reread = self.history.read(span)
        records = [record for record in reread.records if not _is_heartbeat(record)]
        accepted, failure = self._replay(records)
        if not reread.trimmed:
            return Replay(
                outcome=Outcome.FAILED if failure else Outcome.REPLAYED, records=accepted, detail=failure
            )
        if not reread.records:
            return Replay(outcome=Outcome.TRIMMED, records=0, detail=f"Nothing is left of {span}.")
        detail = " ".join(filter(None, (_loss(span, reread, left=len(records)), failure)))
        return Replay(outcome=Outcome.PARTLY_TRIMMED, records=accepted, detail=detail)

    def _replay(self, records: Sequence[Record]) -> tuple[int, str | None]:
        """Hand over the records; returns how many were accepted, and why the others were not."""
        accepted = 0
        for batch in _batches(records):
            if self.deadline.remaining() < self.batch_seconds:
                return accepted, f"Out of time after {accepted} of {len(records)} records."
            try:
                failed = self.consumer.replay(batch)
            except ThrottledError as error:
                return accepted, f"{error.detail} {accepted} of {len(records)} records were accepted before."
            if failed:
                return accepted + len(batch) - len(failed), _failure(records, accepted, failed, len(batch))
            accepted += len(batch)
        return accepted, None


def _is_heartbeat(record: Record) -> bool:
    """Whether it is a heartbeat: the event source mapping filters these out, the stream has them."""
    pk = record["dynamodb"]["Keys"].get(Attribute.PK, {})
    return str(pk.get("S", "")).startswith(HEARTBEAT_PK_PREFIX)


def _batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for record in records:
        length = len(encode(record))
        if batch and (len(batch) == BATCH or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += length
    if batch:
        yield batch


def _failure(records: Sequence[Record], before: int, failed: Sequence[int], batch: int) -> str:
    first = records[before + min(failed)]["dynamodb"]["SequenceNumber"]
    untried = len(records) - before - batch
    rest = f"; {untried} later ones were not tried" if untried else ""
    return f"{len(failed)} of {len(records)} records failed, the first at sequence number {first}{rest}."


def _loss(span: ShardRange, reread: Reread, *, left: int) -> str:
    first = reread.records[0]["dynamodb"]["SequenceNumber"]
    return f"Part of {span} is trimmed. What is left begins at {first}: {left} of {span.records} records."
