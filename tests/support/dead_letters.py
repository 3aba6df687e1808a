"""Dead letters in memory, the stream that they point at and the consumer that did not take its records."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.dead_letter import Letter, Quarantined, QueueName, Reread, ShardRange, Unreadable
from session_store.domain.session import Owner
from session_store.domain.session_end import EndReason, SessionEnd
from session_store.errors import ThrottledError
from session_store.services.dead_letters import DeadLetters
from session_store.services.replays import Replays
from tests.support.stream import STREAM

SHARD: Final = "shardId-00000001573689847184-864758bb"
SENT: Final = 1_800_000_000_250
BATCH_SECONDS: Final = 10.0
LETTER_SECONDS: Final = 12.0

_numbers: Final = itertools.count(1)


def a_range(first: int, last: int, *, records: int | None = None) -> ShardRange:
    return ShardRange(
        stream=STREAM,
        shard_id=SHARD,
        first=str(first),
        last=str(last),
        records=last - first + 1 if records is None else records,
    )


def an_end(session_id: str = "use1-abc") -> SessionEnd:
    return SessionEnd(
        session_id=session_id,
        owner=Owner(tenant="111122223333:role/backend", subject="alice"),
        reason=EndReason.EXPIRED,
        status="active",
        version=3,
        created_at=SENT,
        ended_at=SENT,
        credential_refs=("a",),
    )


def a_letter(contents: ShardRange | SessionEnd | Unreadable, **changes: Any) -> Letter:
    number = next(_numbers)
    letter = Letter(
        message_id=f"message-{number}", receipt="", sent_at=SENT, receive_count=0, contents=contents
    )
    return replace(letter, **changes)


def event(number: int, *, pk: str = "session#use1-abc") -> dict[str, Any]:
    """A record of the stream in Lambda's form."""
    return {"dynamodb": {"SequenceNumber": str(number), "Keys": {"pk": {"S": pk}, "sk": {"S": "metadata"}}}}


@dataclass
class MemoryQueue:
    """Letters are hidden until released: in here no time passes. ``busy`` answers are refused."""

    letters: dict[str, Letter] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    hidden_for: list[int] = field(default_factory=list)
    busy: int = 0

    def put(self, *letters: Letter) -> None:
        self.letters.update({letter.message_id: letter for letter in letters})

    def depth(self) -> int:
        return len(self.letters)

    def receive(self, *, most: int, hidden: int) -> tuple[Letter, ...]:
        self.hidden_for.append(hidden)
        free = [letter for name, letter in self.letters.items() if name not in self.hidden][: min(most, 10)]
        received = tuple(
            replace(letter, receipt=f"receipt-{next(_numbers)}", receive_count=letter.receive_count + 1)
            for letter in free
        )
        self.put(*received)
        self.hidden |= {letter.message_id for letter in received}
        return received

    def remove(self, letter: Letter) -> None:
        if self.busy:
            self.busy -= 1
            raise ThrottledError("The dead-letter queue is busy or did not answer; try again.")
        if self.letters.get(letter.message_id) == letter:
            del self.letters[letter.message_id]

    def release(self, letters: Sequence[Letter]) -> None:
        self.hidden -= {letter.message_id for letter in letters}


@dataclass
class MemoryHistory:
    """One shard, of which all before ``horizon`` is trimmed."""

    records: Sequence[Mapping[str, Any]] = ()
    horizon: int = 0
    busy: bool = False

    def read(self, span: ShardRange) -> Reread:
        if self.busy:
            raise ThrottledError("The stream is busy or did not answer; try again.")
        numbers = range(max(int(span.first), self.horizon), int(span.last) + 1)
        left = tuple(
            record for record in self.records if int(record["dynamodb"]["SequenceNumber"]) in numbers
        )
        return Reread(records=left, trimmed=self.horizon > int(span.first))


@dataclass
class MemoryConsumer:
    """Takes each record once, however often it comes; never those of ``poison``."""

    poison: set[int] = field(default_factory=set)
    taken: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    batches: list[list[int]] = field(default_factory=list)
    busy: bool = False

    def replay(self, records: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
        if self.busy:
            raise ThrottledError("The consumer of the stream is busy or did not answer; try again.")
        numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in records]
        self.batches.append(numbers)
        self.taken |= {
            number: record
            for number, record in zip(numbers, records, strict=True)
            if number not in self.poison
        }
        return tuple(place for place, number in enumerate(numbers) if number in self.poison)


@dataclass
class SentEnds:
    ends: list[SessionEnd] = field(default_factory=list)

    def send(self, end: SessionEnd) -> None:
        self.ends.append(end)


class Shelf:
    @staticmethod
    def count() -> Quarantined:
        return Quarantined(records=3, more=False)


@dataclass
class Office:
    """The use case over all of these; ``now`` is the clock of its deadline, in seconds."""

    stream: MemoryQueue = field(default_factory=MemoryQueue)
    ended: MemoryQueue = field(default_factory=MemoryQueue)
    history: MemoryHistory = field(default_factory=MemoryHistory)
    consumer: MemoryConsumer = field(default_factory=MemoryConsumer)
    sent: SentEnds = field(default_factory=SentEnds)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.deadline = Deadline(monotonic=lambda: self.now)

    @property
    def dead_letters(self) -> DeadLetters:
        return DeadLetters(
            queues={QueueName.STREAM: self.stream, QueueName.CLEANUP: self.ended},
            replays=Replays(
                history=self.history,
                consumer=self.consumer,
                deadline=self.deadline,
                batch_seconds=BATCH_SECONDS,
            ),
            cleanup=self.sent,
            quarantine=Shelf(),
            deadline=self.deadline,
            letter_seconds=LETTER_SECONDS,
        )
