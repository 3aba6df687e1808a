"""What a dead-letter queue promises, of SQS and of the one in memory that the unit tests lean on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from local.emulator import Emulator
from session_store.domain.dead_letter import QueueName
from session_store.ports import DeadLetterQueue
from tests.support.dead_letters import MemoryQueue, a_letter, an_end
from tests.support.redrive import deployed_places

HIDDEN: Final = 60


@dataclass(frozen=True)
class Subject:
    queue: DeadLetterQueue
    send: Callable[[str], None]
    """The end of a session of this id."""


@pytest.fixture(params=["sqs", "memory"])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Subject]:
    if request.param == "memory":
        queue = MemoryQueue()
        yield Subject(queue, lambda session_id: queue.put(a_letter(an_end(session_id))))
        return
    emulator: Emulator = request.getfixturevalue("emulator")
    with deployed_places(emulator, tmp_path) as places:
        yield Subject(
            places.queue(QueueName.CLEANUP), lambda session_id: places.discard_end(an_end(session_id))
        )


def test_an_empty_queue_has_nothing(subject: Subject) -> None:
    assert subject.queue.depth() == 0
    assert list(subject.queue.receive(most=10, hidden=HIDDEN)) == []
    subject.queue.release([])


def test_letters_are_received_with_what_they_tell(subject: Subject) -> None:
    subject.send("a")
    (letter,) = subject.queue.receive(most=10, hidden=HIDDEN)
    assert (letter.contents, letter.condition, letter.receive_count) == (an_end("a"), None, 1)
    assert letter.sent_at > 1_700_000_000_000


def test_no_more_are_received_than_asked_for_and_none_twice(subject: Subject) -> None:
    for session_id in "abcdefghijkl":
        subject.send(session_id)
    received = [*subject.queue.receive(most=1, hidden=HIDDEN), *subject.queue.receive(most=50, hidden=HIDDEN)]
    assert len(received) == len({letter.message_id for letter in received}) == 11


def test_what_one_holds_nobody_else_receives_and_the_depth_counts_it(subject: Subject) -> None:
    subject.send("a")
    assert len(subject.queue.receive(most=1, hidden=HIDDEN)) == 1
    assert list(subject.queue.receive(most=1, hidden=HIDDEN)) == []
    assert subject.queue.depth() == 1


def test_what_is_given_back_is_received_at_once(subject: Subject) -> None:
    for session_id in "abcdefghijkl":
        subject.send(session_id)
    held = [letter for _ in range(2) for letter in subject.queue.receive(most=10, hidden=HIDDEN)]
    subject.queue.release(held)
    again = [letter for _ in range(2) for letter in subject.queue.receive(most=10, hidden=HIDDEN)]
    assert {letter.message_id for letter in again} == {letter.message_id for letter in held}
    assert {letter.receive_count for letter in again} == {2}


def test_what_is_removed_is_gone_and_may_be_removed_again(subject: Subject) -> None:
    subject.send("a")
    (letter,) = subject.queue.receive(most=1, hidden=HIDDEN)
    subject.queue.remove(letter)
    subject.queue.remove(letter)
    assert subject.queue.depth() == 0
