"""Drain, dead letters and health."""

from typing import Literal

from session_store_client.answers.base import Answer

QueueName = Literal["stream", "cleanup"]


class Drained(Answer, frozen=True):
    """``skipped`` sessions were used, had ended or have another home region. ``more``: call again."""

    moved: int
    skipped: int
    more: bool


class ShardRange(Answer, frozen=True):
    """A range of stream records; ``batch_size`` is the number of records in the failed invocation."""

    shard_id: str
    start_sequence_number: str
    end_sequence_number: str
    batch_size: int


class DeadLetter(Answer, frozen=True):
    """Names a ``shard_range`` or a ``session_id``; when it names neither, ``unreadable`` says why."""

    message_id: str
    sent_at: str
    receive_count: int
    condition: str | None
    shard_range: ShardRange | None
    session_id: str | None
    unreadable: str | None


class DeadLetterQueue(Answer, frozen=True):
    """``depth`` is approximate, as SQS counts it."""

    queue: QueueName
    depth: int
    letters: tuple[DeadLetter, ...]


class Quarantine(Answer, frozen=True):
    """Stream records that the consumer could not read. ``more``: the count stopped before the end."""

    records: int
    more: bool


class DeadLetters(Answer, frozen=True):
    queues: tuple[DeadLetterQueue, ...]
    quarantine: Quarantine


class RedrivenLetter(Answer, frozen=True):
    """``records``: how many the stream's consumer accepted. A letter not redriven stays in its queue."""

    message_id: str
    queue: QueueName
    outcome: Literal["replayed", "failed", "trimmed", "partly-trimmed", "requeued", "unreadable"]
    records: int
    detail: str | None


class Redriven(Answer, frozen=True):
    """``more``: the redrive stopped at its limit or time; call again."""

    items: tuple[RedrivenLetter, ...]
    more: bool


class Health(Answer, frozen=True):
    status: Literal["ok"]
