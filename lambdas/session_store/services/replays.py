"""Records of the stream that were given up, handed to its consumer once more."""

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
"""Below the 6 MB that an invocation may carry; a record, with both its images, is far smaller."""

Record = Mapping[str, Any]


class Replay(Struct, frozen=True, kw_only=True):
    """What came of one range; ``records``: how many the consumer took."""

    outcome: Outcome
    records: int
    detail: str | None


class Replays(Struct, frozen=True, kw_only=True):
    """A record that is replayed twice is audited once: the consumer sees to it."""

    history: StreamHistory
    consumer: StreamReplay
    deadline: Deadline
    batch_seconds: float
    """What one batch may take, with what has to be done after it."""

    def run(self, span: ShardRange) -> Replay:
        """Replay a range in its order, as far as it is still there and nothing fails.

        Raises:
            ThrottledError: the stream could not be read now.
        """
        reread = self.history.read(span)
        records = [record for record in reread.records if not _is_heartbeat(record)]
        taken, trouble = self._replayed(records)
        if not reread.trimmed:
            return Replay(
                outcome=Outcome.FAILED if trouble else Outcome.REPLAYED, records=taken, detail=trouble
            )
        if not reread.records:
            return Replay(outcome=Outcome.TRIMMED, records=0, detail=f"Nothing is left of {span}.")
        detail = " ".join(filter(None, (_loss(span, reread, left=len(records)), trouble)))
        return Replay(outcome=Outcome.PARTLY_TRIMMED, records=taken, detail=detail)

    def _replayed(self, records: Sequence[Record]) -> tuple[int, str | None]:
        """How many were taken, and what stood in the way of the others."""
        taken = 0
        for batch in _batches(records):
            if self.deadline.remaining() < self.batch_seconds:
                return taken, f"The time of the request was over after {taken} of {len(records)} records."
            try:
                failed = self.consumer.replay(batch)
            except ThrottledError as error:
                return taken, f"{error.detail} It took {taken} of {len(records)} records before."
            if failed:
                return taken + len(batch) - len(failed), _failure(records, taken, failed, len(batch))
            taken += len(batch)
        return taken, None


def _is_heartbeat(record: Record) -> bool:
    """The stream's mapping filters heartbeats out, so a range may hold some that no consumer was given."""
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
    rest = f"; {untried} after them were not tried" if untried else ""
    return f"{len(failed)} of {len(records)} records failed, the first at sequence number {first}{rest}."


def _loss(span: ShardRange, reread: Reread, *, left: int) -> str:
    first = reread.records[0]["dynamodb"]["SequenceNumber"]
    return f"Part of {span} is trimmed. What is left begins at {first}: {left} of {span.records} records."
