"""Dead letters: looked at without being taken, and redriven."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.caller import Caller
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
from session_store.services.access import check_operator
from session_store.services.replays import Replays

HIDDEN_LOOKING: Final = 30
"""Seconds for which letters that are looked at would be away, were they not given back right after."""

HIDDEN_REDRIVING: Final = 300
"""Seconds that a letter may be worked on before somebody else gets it; then it is worked on twice."""

RECEIVED_AT_ONCE: Final = 10
DONE: Final = frozenset({Outcome.REPLAYED, Outcome.REQUEUED})
"""Nothing is left to do, and the letter is removed."""


class DeadLetters(Struct, frozen=True, kw_only=True):
    queues: Mapping[QueueName, DeadLetterQueue]
    replays: Replays
    cleanup: CleanupQueue
    quarantine: QuarantineCount
    deadline: Deadline
    letter_seconds: float
    """What one letter may take; none is begun with less than that left of the deadline."""

    def overview(self, caller: Caller, *, limit: int) -> Overview:
        """Up to ``limit`` letters of each queue, all of which stay, and how much lies in quarantine.

        Raises:
            ForbiddenError: the caller is no operator.
        """
        check_operator(caller)
        views = tuple(self._view(name, limit=limit) for name in QueueName)
        return Overview(queues=views, quarantined=self.quarantine.count())

    def _view(self, name: QueueName, *, limit: int) -> QueueView:
        queue = self.queues[name]
        depth = queue.depth()
        seen: dict[str, Letter] = {}
        try:
            while len(seen) < min(limit, depth) and self.deadline.remaining() >= self.letter_seconds:
                wanted = min(RECEIVED_AT_ONCE, limit - len(seen))
                found = {
                    letter.message_id: letter for letter in queue.receive(most=wanted, hidden=HIDDEN_LOOKING)
                }
                if found.keys() <= seen.keys():
                    break
                seen.update(found)
        finally:
            queue.release(tuple(seen.values()))
        return QueueView(queue=name, depth=depth, letters=tuple(seen.values()))

    def redrive(self, caller: Caller, *, queue: QueueName | None, most: int) -> RedriveReport:
        """Do again what up to ``most`` letters tell of; those of which nothing is left to do are removed.

        Done twice, or by two at once, it does no harm: a letter is worked on by one at a
        time, and what it sets off is done once.

        Raises:
            ForbiddenError: the caller is no operator.
        """
        check_operator(caller)
        done: list[Redriven] = []
        for name in QueueName if queue is None else (queue,):
            self._work_off(name, done, most=most)
        return RedriveReport(letters=tuple(done), more=len(done) >= most or self._is_time_up())

    def _work_off(self, name: QueueName, done: list[Redriven], *, most: int) -> None:
        queue = self.queues[name]
        kept: dict[str, Letter] = {}
        try:
            while len(done) < most and not self._is_time_up():
                # One at a time: those behind it stay with whoever else redrives.
                letter = next(iter(queue.receive(most=1, hidden=HIDDEN_REDRIVING)), None)
                if letter is None:
                    break
                again = letter.message_id in kept
                kept[letter.message_id] = letter
                if again:
                    break
                redriven = self._redriven(name, letter)
                if redriven.outcome in DONE:
                    del kept[letter.message_id]
                done.append(redriven)
        finally:
            queue.release(tuple(kept.values()))

    def _is_time_up(self) -> bool:
        return self.deadline.remaining() < self.letter_seconds

    def _redriven(self, name: QueueName, letter: Letter) -> Redriven:
        """What came of the letter, whatever else was busy: those before it are told of in any case."""
        try:
            return self._done_again(name, letter)
        except ThrottledError as error:
            return Redriven(
                message_id=letter.message_id, queue=name, outcome=Outcome.FAILED, detail=error.detail
            )

    def _done_again(self, name: QueueName, letter: Letter) -> Redriven:
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
