"""Response bodies about dead letters. None shows what an item holds."""

from typing import Literal

from session_api.answers import Answer
from session_store.domain.dead_letter import Letter, Overview, QueueView, RedriveReport, ShardRange
from session_store.domain.session_end import SessionEnd
from session_store.domain.times import iso

QueueLabel = Literal["stream", "cleanup"]


class ShardRangeAnswer(Answer, frozen=True):
    """A range of records in one shard of the table's stream."""

    shard_id: str
    """The shard."""

    start_sequence_number: str
    """The first record of the range."""

    end_sequence_number: str
    """The last record of the range, which belongs to it."""

    batch_size: int
    """How many of the records the consumer was given."""


class LetterAnswer(Answer, frozen=True):
    """A dead letter. It points at a range of records or at a session, or is unreadable."""

    message_id: str
    """The id of the SQS message."""

    sent_at: str
    """When the letter was sent to its dead-letter queue."""

    receive_count: int
    """How often the letter has been received, including by this operation."""

    condition: str | None
    """Why Lambda gave the records up, in its own words; null for other letters."""

    shard_range: ShardRangeAnswer | None
    """The records that the consumer of the stream did not take."""

    session_id: str | None
    """The ended session whose clean-up did not succeed."""

    unreadable: str | None
    """Why the letter cannot be read; null where it can."""


class QueueAnswer(Answer, frozen=True):
    """A dead-letter queue and some of its letters."""

    queue: QueueLabel
    """`stream`: records that were not audited. `cleanup`: sessions that were not cleaned up."""

    depth: int
    """How many letters the queue has, approximately."""

    letters: list[LetterAnswer]
    """Up to the limit of them; all stay in the queue."""


class QuarantineAnswer(Answer, frozen=True):
    """The records of the stream that could not be understood and were kept whole."""

    records: int
    """How many were counted."""

    more: bool
    """Whether there are more than were counted."""


class DeadLettersAnswer(Answer, frozen=True):
    """What could not be processed in the background."""

    queues: list[QueueAnswer]
    """The dead-letter queues."""

    quarantine: QuarantineAnswer
    """The quarantine of the stream's consumer."""


class RedrivenAnswer(Answer, frozen=True):
    """What became of one letter."""

    message_id: str
    """The id of the SQS message."""

    queue: QueueLabel
    """The dead-letter queue."""

    outcome: Literal["replayed", "failed", "trimmed", "partly-trimmed", "requeued", "unreadable"]
    """`replayed` and `requeued` letters are removed, all others stay in their queue. `trimmed` and
    `partly-trimmed`: the stream no longer holds the records, or some of them."""

    records: int
    """How many records the consumer of the stream took."""

    detail: str | None
    """What stood in the way; null where nothing did."""


class RedriveAnswer(Answer, frozen=True):
    """What one redrive did."""

    items: list[RedrivenAnswer]
    """One entry a letter."""

    more: bool
    """Whether the call reached its limit of letters or time first; if so, call again."""


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
