"""What could not be done in time: the letters that tell of it, and what came of doing it again."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from session_store.domain.session_end import SessionEnd


class QueueName(StrEnum):
    STREAM = "stream"
    """Records that the consumer of the stream did not take. Its letters point at them."""

    CLEANUP = "cleanup"
    """Ends of sessions whose clean-up did not succeed. Its letters are the ends themselves."""


class ShardRange(Struct, frozen=True, kw_only=True):
    """Neighbours in one shard of a stream, from ``first`` to ``last`` (sequence numbers), both of them in.

    ``records`` is how many of them the consumer was given; those that the mapping's filter keeps
    from it lie in the range too.
    """

    stream: str
    shard_id: str
    first: str
    last: str
    records: int

    def __str__(self) -> str:
        return f"{self.shard_id} from {self.first} to {self.last}"


class Unreadable(Struct, frozen=True, kw_only=True):
    """``reason`` quotes nothing."""

    reason: str


class Letter(Struct, frozen=True, kw_only=True):
    """``sent_at`` in milliseconds; ``receipt`` names this delivery of the letter to its queue.

    ``condition`` says why records were given up, in Lambda's words.
    """

    message_id: str
    receipt: str
    sent_at: int
    receive_count: int
    contents: ShardRange | SessionEnd | Unreadable
    condition: str | None = None


class Reread(Struct, frozen=True, kw_only=True):
    """What the stream still holds of a range, in order, in the form that Lambda gives its records.

    ``trimmed``: it held more once.
    """

    records: tuple[Mapping[str, Any], ...]
    trimmed: bool


class Outcome(StrEnum):
    REPLAYED = "replayed"
    """All of it; the letter is gone."""

    FAILED = "failed"
    TRIMMED = "trimmed"
    PARTLY_TRIMMED = "partly-trimmed"
    REQUEUED = "requeued"
    """Sent to the clean-up once more; the letter is gone."""

    UNREADABLE = "unreadable"


class Redriven(Struct, frozen=True, kw_only=True):
    """What came of one letter. ``records``: how many the consumer took."""

    message_id: str
    queue: QueueName
    outcome: Outcome
    records: int = 0
    detail: str | None = None


class RedriveReport(Struct, frozen=True, kw_only=True):
    """``more``: the limit or the time was reached first, so letters may be left that were not looked at."""

    letters: tuple[Redriven, ...]
    more: bool


class QueueView(Struct, frozen=True, kw_only=True):
    """``depth`` is approximate, and counts letters that somebody is looking at."""

    queue: QueueName
    depth: int
    letters: tuple[Letter, ...]


class Quarantined(Struct, frozen=True, kw_only=True):
    """``more``: there are more than were counted."""

    records: int
    more: bool


class Overview(Struct, frozen=True, kw_only=True):
    queues: tuple[QueueView, ...]
    quarantined: Quarantined
