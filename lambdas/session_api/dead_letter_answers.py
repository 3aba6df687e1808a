"""The bodies of answers about dead letters. None shows what an item holds."""

from typing import Literal

from session_api.answers import Answer
from session_store.domain.dead_letter import Letter, Overview, QueueView, RedriveReport, ShardRange
from session_store.domain.session_end import SessionEnd
from session_store.domain.times import iso

Queue = Literal["stream", "cleanup"]


class ShardRangeAnswer(Answer, frozen=True):
    """Records of the stream; ``batchSize`` is how many of them the consumer was given."""

    shard_id: str
    start_sequence_number: str
    end_sequence_number: str
    batch_size: int


class LetterAnswer(Answer, frozen=True):
    """It points at a shard's range or at a session; at neither where it is ``unreadable``, which says why."""

    message_id: str
    sent_at: str
    receive_count: int
    condition: str | None
    shard_range: ShardRangeAnswer | None
    session_id: str | None
    unreadable: str | None


class QueueAnswer(Answer, frozen=True):
    """``depth`` is approximate."""

    queue: Queue
    depth: int
    letters: list[LetterAnswer]


class QuarantineAnswer(Answer, frozen=True):
    """``more``: there are more than were counted."""

    records: int
    more: bool


class DeadLettersAnswer(Answer, frozen=True):
    queues: list[QueueAnswer]
    quarantine: QuarantineAnswer


class RedrivenAnswer(Answer, frozen=True):
    """``records``: how many the consumer of the stream took. A letter that was not redriven stays."""

    message_id: str
    queue: Queue
    outcome: Literal["replayed", "failed", "trimmed", "partly-trimmed", "requeued", "unreadable"]
    records: int
    detail: str | None


class RedriveAnswer(Answer, frozen=True):
    """``more``: the limit or the time was reached first; call again."""

    items: list[RedrivenAnswer]
    more: bool


def dead_letters_answer(overview: Overview) -> DeadLettersAnswer:
    quarantined = overview.quarantined
    return DeadLettersAnswer(
        queues=[_queue_answer(view) for view in overview.queues],
        quarantine=QuarantineAnswer(records=quarantined.records, more=quarantined.more),
    )


def redrive_answer(report: RedriveReport) -> RedriveAnswer:
    items = [
        RedrivenAnswer(
            message_id=letter.message_id,
            queue=letter.queue.value,
            outcome=letter.outcome.value,
            records=letter.records,
            detail=letter.detail,
        )
        for letter in report.letters
    ]
    return RedriveAnswer(items=items, more=report.more)


def _queue_answer(view: QueueView) -> QueueAnswer:
    return QueueAnswer(
        queue=view.queue.value, depth=view.depth, letters=[_letter_answer(letter) for letter in view.letters]
    )


def _letter_answer(letter: Letter) -> LetterAnswer:
    shard_range = session_id = unreadable = None
    match letter.contents:
        case ShardRange() as span:
            shard_range = ShardRangeAnswer(
                shard_id=span.shard_id,
                start_sequence_number=span.first,
                end_sequence_number=span.last,
                batch_size=span.records,
            )
        case SessionEnd() as end:
            session_id = end.session_id
        case other:
            unreadable = other.reason
    return LetterAnswer(
        message_id=letter.message_id,
        sent_at=iso(letter.sent_at),
        receive_count=letter.receive_count,
        condition=letter.condition,
        shard_range=shard_range,
        session_id=session_id,
        unreadable=unreadable,
    )
