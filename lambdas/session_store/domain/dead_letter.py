"""Dead letters: work that failed for good, and the results of redriving it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from session_store.domain.session_end import SessionEnd


class QueueName(StrEnum):
    STREAM = "stream"
    """Letters that point at stream records which the consumer did not process."""

    CLEANUP = "cleanup"
    """Session ends whose clean-up failed. The letters are the ends themselves."""


class ShardRange(Struct, frozen=True, kw_only=True):
    """A range of one shard of a stream, from sequence number ``first`` to ``last``, both included.

    ``records`` is how many records the consumer was given. The range also spans those that the filter of
    the event source mapping dropped.
    """

    stream: str
    shard_id: str
    first: str
    last: str
    records: int

    def __str__(self) -> str:
        return f"{self.shard_id} from {self.first} to {self.last}"


class Unreadable(Struct, frozen=True, kw_only=True):
    """A letter that cannot be read; ``reason`` says why, and quotes nothing of it."""

    reason: str


class Letter(Struct, frozen=True, kw_only=True):
    """A message of a dead-letter queue. ``sent_at`` in milliseconds; ``receipt`` identifies this delivery.

    ``condition`` is Lambda's reason for giving up the records.
    """

    message_id: str
    receipt: str
    sent_at: int
    receive_count: int
    contents: ShardRange | SessionEnd | Unreadable
    condition: str | None = None


class Reread(Struct, frozen=True, kw_only=True):
    """The records of a range that the stream still has, in order, in the form of a Lambda event.

    ``trimmed``: older records of the range are gone.
    """

    records: tuple[Mapping[str, Any], ...]
    trimmed: bool


class Outcome(StrEnum):
    REPLAYED = "replayed"
    """All records were processed; the letter is removed."""

    FAILED = "failed"
    TRIMMED = "trimmed"
    PARTLY_TRIMMED = "partly-trimmed"
    REQUEUED = "requeued"
    """Sent to the clean-up queue again; the letter is removed."""

    UNREADABLE = "unreadable"


class Redriven(Struct, frozen=True, kw_only=True):
    """The result of redriving one letter. ``records``: how many the consumer processed."""

    message_id: str
    queue: QueueName
    outcome: Outcome
    records: int = 0
    detail: str | None = None


class RedriveReport(Struct, frozen=True, kw_only=True):
    """``more``: the limit or the deadline was reached, so letters may be left."""

    letters: tuple[Redriven, ...]
    more: bool


class QueueView(Struct, frozen=True, kw_only=True):
    """The first letters of a queue; ``depth`` is approximate, and includes letters in flight."""

    queue: QueueName
    depth: int
    letters: tuple[Letter, ...]


class Quarantined(Struct, frozen=True, kw_only=True):
    """How many records are quarantined; ``more``: at least so many."""

    records: int
    more: bool


class Overview(Struct, frozen=True, kw_only=True):
    queues: tuple[QueueView, ...]
    quarantined: Quarantined
