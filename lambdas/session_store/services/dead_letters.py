"""The dead-letter queues: inspected without removing anything, and redriven."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.caller import Caller, Permission
from session_store.domain.dead_letter import (
    Letter,
    Outcome,
    Overview,
    QueueName,
    QueueView,
    Redriven,
    RedriveReport,
    ShardRange,
    Unreadable,
)
from session_store.errors import ThrottledError
from session_store.ports import CleanupQueue, DeadLetterQueue, QuarantineCount
from session_store.services.permissions import check_permission
from session_store.services.replays import Replays

HIDDEN_LOOKING: Final = 30
"""Visibility timeout, in seconds, of letters that are only inspected; they are released right after."""

HIDDEN_REDRIVING: Final = 300
"""Visibility timeout, in seconds, of a letter that is redriven; past it, it may be redriven twice."""

RECEIVED_AT_ONCE: Final = 10
DONE: Final = frozenset({Outcome.REPLAYED, Outcome.REQUEUED})
"""Outcomes after which the letter is removed."""


class DeadLetters(Struct, frozen=True, kw_only=True):
    queues: Mapping[QueueName, DeadLetterQueue]
    replays: Replays
    cleanup: CleanupQueue
    quarantine: QuarantineCount
    deadline: Deadline
    letter_seconds: float
    """How long one letter may take; none is begun with less than that left of the deadline."""

    def overview(self, caller: Caller, *, limit: int) -> Overview:
        """List up to ``limit`` letters of each queue, all of which stay there, and count the quarantine.

        Raises:
            ForbiddenError: the caller is not an operator.
        """
        check_permission(caller, Permission.OPS)
        views = tuple(self._view(name, limit=limit) for name in QueueName)
        return Overview(queues=views, quarantined=self.quarantine.count())

    def _view(self, name: QueueName, *, limit: int) -> QueueView:
        queue = self.queues[name]
        depth = queue.depth()
        letters: dict[str, Letter] = {}
        try:
            while len(letters) < min(limit, depth) and self.deadline.remaining() >= self.letter_seconds:
                wanted = min(RECEIVED_AT_ONCE, limit - len(letters))
                received = {
                    letter.message_id: letter for letter in queue.receive(most=wanted, hidden=HIDDEN_LOOKING)
                }
                if received.keys() <= letters.keys():
                    break
                letters.update(received)
        finally:
            queue.release(tuple(letters.values()))
        return QueueView(queue=name, depth=depth, letters=tuple(letters.values()))

    def redrive(self, caller: Caller, *, queue: QueueName | None, most: int) -> RedriveReport:
        """Redrive up to ``most`` letters and remove those that are done.

        It is safe to repeat, and to run concurrently: one redrive at a time holds a letter, and its effects
        are idempotent.

        Raises:
            ForbiddenError: the caller is not an operator.
        """
        check_permission(caller, Permission.OPS)
        redriven: list[Redriven] = []
        for name in QueueName if queue is None else (queue,):
            self._redrive_queue(name, redriven, most=most)
        return RedriveReport(letters=tuple(redriven), more=len(redriven) >= most or self._is_out_of_time())

    def _redrive_queue(self, name: QueueName, redriven: list[Redriven], *, most: int) -> None:
        queue = self.queues[name]
        held: dict[str, Letter] = {}
        try:
            while len(redriven) < most and not self._is_out_of_time():
                # One at a time, so that concurrent redrives share the queue.
                letter = next(iter(queue.receive(most=1, hidden=HIDDEN_REDRIVING)), None)
                if letter is None:
                    break
                seen_before = letter.message_id in held
                held[letter.message_id] = letter
                if seen_before:
                    break
                result = self._redrive(name, letter)
                if result.outcome in DONE:
                    del held[letter.message_id]
                redriven.append(result)
        finally:
            queue.release(tuple(held.values()))

    def _is_out_of_time(self) -> bool:
        return self.deadline.remaining() < self.letter_seconds

    def _redrive(self, name: QueueName, letter: Letter) -> Redriven:
        """Redrive a letter. Throttling fails this letter alone, so that the report covers those before it."""
        try:
            return self._redrive_contents(name, letter)
        except ThrottledError as error:
            return Redriven(
                message_id=letter.message_id, queue=name, outcome=Outcome.FAILED, detail=error.detail
            )

    def _redrive_contents(self, name: QueueName, letter: Letter) -> Redriven:
        redriven = Redriven(message_id=letter.message_id, queue=name, outcome=Outcome.REQUEUED)
        match letter.contents:
            case Unreadable(reason=reason):
                return replace(redriven, outcome=Outcome.UNREADABLE, detail=reason)
            case ShardRange() as span:
                replay = self.replays.run(span)
                redriven = replace(
                    redriven, outcome=replay.outcome, records=replay.records, detail=replay.detail
                )
            case end:
                self.cleanup.send(end)
        if redriven.outcome in DONE:
            self.queues[name].remove(letter)
        return redriven
