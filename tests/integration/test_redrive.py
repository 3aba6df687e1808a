"""Dead letters of a real stream in real queues: exactly what they point at is done again."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local.emulator import Emulator
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.dead_letter import Outcome, Quarantined, QueueName
from session_store.domain.page import PageRequest
from session_store.schema import session_pk
from session_store.storage.integrations.cleanup_queue import session_end_from
from tests.support.consumer import Consumer, loaded_consumer
from tests.support.dead_letters import an_end
from tests.support.redrive import Places, deployed_places
from tests.support.samples import OPERATOR, a_message, a_session, settings


@pytest.fixture
def places(emulator: Emulator, tmp_path: Path) -> Iterator[Places]:
    with deployed_places(emulator, tmp_path) as deployed:
        yield deployed


def number(record: Mapping[str, Any]) -> str:
    sequence_number: str = record["dynamodb"]["SequenceNumber"]
    return sequence_number


def test_a_range_in_the_middle_of_a_shard_is_replayed_without_its_neighbours(places: Places) -> None:
    places.put(10)
    records = places.records()
    places.discard(records[3:7])
    report = places.redrive()
    assert [(letter.outcome, letter.records) for letter in report.letters] == [(Outcome.REPLAYED, 4)]
    assert places.seen() == records[3:7]
    assert places.queue(QueueName.STREAM).depth() == 0


def test_letters_of_one_record_each_are_all_done(places: Places) -> None:
    places.put(5)
    records = places.records()
    for record in (records[0], records[2], records[4]):
        places.discard([record])
    assert [letter.outcome for letter in places.redrive().letters] == [Outcome.REPLAYED] * 3
    assert sorted(map(number, places.seen())) == sorted(number(records[place]) for place in (0, 2, 4))


def test_a_record_that_fails_again_keeps_its_letter_until_it_succeeds(places: Places) -> None:
    places.put(4)
    records = places.records()
    places.discard(records[1:4])
    places.poison(number(records[2]))
    (failed,) = places.redrive().letters
    assert (failed.outcome, failed.records) == (Outcome.FAILED, 2)
    assert failed.detail == f"1 of 3 records failed, the first at sequence number {number(records[2])}."
    places.poison()
    assert [letter.outcome for letter in places.redrive().letters] == [Outcome.REPLAYED]
    assert {number(record) for record in places.seen()} == {number(record) for record in records[1:4]}
    assert places.redrive().letters == ()


def test_a_function_that_crashes_keeps_the_letter(places: Places) -> None:
    places.put(1)
    places.discard(places.records())
    (places.folder / "poison").unlink()
    (failed,) = places.redrive().letters
    assert (failed.outcome, failed.records) == (Outcome.FAILED, 0)
    assert places.queue(QueueName.STREAM).depth() == 1


def test_what_is_left_of_a_range_is_replayed_and_its_loss_reported(places: Places) -> None:
    places.put(8)
    records = places.records()
    places.discard(records[2:6])
    places.trim(horizon=number(records[4]))
    (done,) = places.redrive().letters
    assert (done.outcome, done.records) == (Outcome.PARTLY_TRIMMED, 2)
    assert f"What is left begins at {number(records[4])}: 2 of 4 records." in str(done.detail)
    assert places.seen() == records[4:6]
    assert places.queue(QueueName.STREAM).depth() == 1


def test_a_range_that_is_trimmed_is_told_and_its_letter_stays(places: Places) -> None:
    places.put(8)
    records = places.records()
    places.discard(records[2:4])
    places.trim(horizon=number(records[6]))
    for _ in range(2):
        (done,) = places.redrive().letters
        assert (done.outcome, done.records) == (Outcome.TRIMMED, 0)
        assert number(records[2]) in str(done.detail)
        assert number(records[3]) in str(done.detail)
    assert places.seen() == []


def test_a_shard_or_a_stream_that_is_gone_is_trimmed(places: Places) -> None:
    places.put(2)
    records = places.records()
    places.discard(records, shard_id="shardId-00000000000000000009-00000000")
    gone = replace(places, stream=places.stream.replace("stream/2", "stream/1"))
    gone.discard(records, shard_id=places.shard_id)
    assert [letter.outcome for letter in places.redrive().letters] == [Outcome.TRIMMED] * 2


def test_an_end_goes_to_the_clean_up_again(places: Places) -> None:
    places.discard_end(an_end("use1-xyz"))
    assert [letter.outcome for letter in places.redrive().letters] == [Outcome.REQUEUED]
    assert [session_end_from(body) for body in places.bodies("again")] == [an_end("use1-xyz")]
    assert places.queue(QueueName.CLEANUP).depth() == 0


def test_letters_that_nobody_can_read_stay_and_do_not_stand_in_the_way(places: Places) -> None:
    places.put(1)
    places.send("stream", "no letter")
    places.discard(places.records())
    places.send("cleanup", "{}")
    outcomes = sorted(letter.outcome for letter in places.redrive().letters)
    assert outcomes == [Outcome.REPLAYED, Outcome.UNREADABLE, Outcome.UNREADABLE]
    assert [places.queue(name).depth() for name in QueueName] == [1, 1]


def test_a_look_takes_nothing_and_counts_what_is_in_quarantine(places: Places) -> None:
    places.put(3)
    records = places.records()
    places.discard(records[:2])
    places.discard_end(an_end())
    places.quarantine("a", "b")
    for count in (1, 2):
        overview = places.dead_letters().overview(OPERATOR, limit=10)
        (pointer,), (end,) = (view.letters for view in overview.queues)
        assert str(pointer.contents).endswith(f"from {number(records[0])} to {number(records[1])}")
        assert (pointer.condition, end.contents) == ("RetryAttemptsExhausted", an_end())
        assert (pointer.receive_count, [view.depth for view in overview.queues]) == (count, [1, 1])
        assert overview.quarantined == Quarantined(records=2, more=False)


def test_two_operators_at_once_do_each_letter_once(places: Places) -> None:
    places.put(12)
    for record in places.records():
        places.discard([record])
    office = places.dead_letters()
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(office.redrive, OPERATOR, queue=None, most=100) for _ in range(2)]
        letters = [letter for run in runs for letter in run.result().letters]
    assert [letter.outcome for letter in letters] == [Outcome.REPLAYED] * 12
    assert len({letter.message_id for letter in letters}) == len(places.seen()) == 12


@pytest.fixture
def consumer(places: Places, monkeypatch: pytest.MonkeyPatch) -> Iterator[Consumer]:
    with loaded_consumer(places, monkeypatch) as loaded:
        yield loaded


def trail(places: Places, session_id: str) -> list[str | None]:
    """The sequence numbers that a session's audit trail tells of."""
    names = settings(table=places.table, audit_table=places.audit_table)
    storage = dynamodb_storage(names, places.client("dynamodb"), Deadline())
    page = storage.audit.page(session_pk(session_id), PageRequest(limit=100))
    return [entry.sequence_number for entry in page.items]


def test_a_stop_between_replay_and_removal_does_no_harm(places: Places, consumer: Consumer) -> None:
    names = settings(table=places.table, audit_table=places.audit_table)
    storage = dynamodb_storage(names, places.client("dynamodb"), Deadline())
    session = a_session()
    storage.sessions.create(session)
    for text in ("a", "b", "c"):
        storage.messages.put(a_message(session, text))
    records = places.records()
    places.discard(records)
    places.break_removals(1)
    (stopped,) = places.redrive(consumer=consumer).letters
    assert stopped.outcome is Outcome.FAILED
    assert trail(places, session.session_id) == [number(record) for record in records]
    (again,) = places.redrive(consumer=consumer).letters
    assert (again.outcome, again.records) == (Outcome.REPLAYED, 4)
    assert trail(places, session.session_id) == [number(record) for record in records]
    assert places.queue(QueueName.STREAM).depth() == 0


def test_a_letter_that_another_receiver_holds_is_redriven_once_it_is_visible_again(
    places: Places, consumer: Consumer
) -> None:
    names = settings(table=places.table, audit_table=places.audit_table)
    storage = dynamodb_storage(names, places.client("dynamodb"), Deadline())
    session = a_session()
    storage.sessions.create(session)
    places.discard(places.records())
    queue = places.queue(QueueName.STREAM)
    (held,) = queue.receive(most=1, hidden=600)
    office = places.dead_letters(consumer=consumer)
    office.replays.run(held.contents)  # type: ignore[arg-type] # a range: the test sent it
    assert places.redrive(consumer=consumer).letters == ()
    queue.release([held])
    (again,) = places.redrive(consumer=consumer).letters
    assert (again.message_id, again.outcome) == (held.message_id, Outcome.REPLAYED)
    assert len(trail(places, session.session_id)) == 1


def test_an_unreadable_record_is_quarantined_when_it_is_redriven(places: Places, consumer: Consumer) -> None:
    places.put(1)
    places.discard(places.records())
    assert [letter.outcome for letter in places.redrive(consumer=consumer).letters] == [Outcome.REPLAYED]
    assert places.dead_letters().quarantine.count() == Quarantined(records=1, more=False)
