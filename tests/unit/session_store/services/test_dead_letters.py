"""Dead letters are inspected without being removed, and can be redriven any number of times."""

from typing import Any

import pytest

from session_store.domain.dead_letter import Letter, Outcome, Quarantined, QueueName, Redriven, Unreadable
from session_store.errors import ForbiddenError
from tests.support.dead_letters import LETTER_SECONDS, Office, a_letter, a_range, an_end, event
from tests.support.samples import ALICE, OPERATOR

STREAM = QueueName.STREAM
CLEANUP = QueueName.CLEANUP


@pytest.fixture
def office() -> Office:
    """A stream of records 1 to 20."""
    office = Office()
    office.history.records = [event(number) for number in range(1, 21)]
    return office


def redriven(office: Office, *, queue: QueueName | None = None, most: int = 20) -> tuple[Redriven, ...]:
    return office.dead_letters.redrive(OPERATOR, queue=queue, most=most).letters


def told(letter: Letter, outcome: Outcome, queue: QueueName = STREAM, **facts: Any) -> Redriven:
    return Redriven(message_id=letter.message_id, queue=queue, outcome=outcome, **facts)


def test_only_an_operator_looks_and_redrives(office: Office) -> None:
    with pytest.raises(ForbiddenError):
        office.dead_letters.overview(ALICE, limit=1)
    with pytest.raises(ForbiddenError):
        office.dead_letters.redrive(ALICE, queue=None, most=1)


def test_a_look_shows_both_queues_and_the_quarantine(office: Office) -> None:
    letters = [a_letter(a_range(n, n)) for n in range(1, 4)]
    end = a_letter(an_end())
    office.stream.put(*letters)
    office.ended.put(end)
    overview = office.dead_letters.overview(OPERATOR, limit=20)
    stream, cleanup = overview.queues
    assert (stream.queue, stream.depth, cleanup.queue, cleanup.depth) == (STREAM, 3, CLEANUP, 1)
    assert [seen.message_id for seen in stream.letters] == [letter.message_id for letter in letters]
    assert [seen.contents for seen in cleanup.letters] == [an_end()]
    assert overview.quarantined == Quarantined(records=3, more=False)


def test_what_was_looked_at_stays_and_may_be_redriven_at_once(office: Office) -> None:
    office.stream.put(a_letter(a_range(1, 2)))
    office.dead_letters.overview(OPERATOR, limit=20)
    assert [letter.outcome for letter in redriven(office)] == [Outcome.REPLAYED]


def test_a_look_shows_no_more_than_its_limit_and_each_letter_once(office: Office) -> None:
    office.stream.put(*(a_letter(a_range(1, 1)) for _ in range(25)))
    for limit, shown in ((1, 1), (12, 12), (100, 25)):
        view = office.dead_letters.overview(OPERATOR, limit=limit).queues[0]
        assert (len({letter.message_id for letter in view.letters}), view.depth) == (shown, 25)
    assert not office.stream.hidden


def test_letters_that_another_holds_do_not_keep_a_look_waiting(office: Office) -> None:
    office.stream.put(a_letter(a_range(1, 1)), a_letter(a_range(2, 2)))
    office.stream.receive(most=1, hidden=300)
    view = office.dead_letters.overview(OPERATOR, limit=20).queues[0]
    assert (len(view.letters), view.depth) == (1, 2)


def test_a_look_without_time_shows_depths_alone(office: Office) -> None:
    office.stream.put(a_letter(a_range(1, 1)))
    office.deadline.expires_in(LETTER_SECONDS - 1)
    view = office.dead_letters.overview(OPERATOR, limit=20).queues[0]
    assert (view.depth, view.letters) == (1, ())


def test_a_range_that_the_consumer_takes_is_done_with(office: Office) -> None:
    letter = a_letter(a_range(5, 8))
    office.stream.put(letter)
    assert redriven(office) == (told(letter, Outcome.REPLAYED, records=4),)
    assert sorted(office.consumer.taken) == [5, 6, 7, 8]
    assert not office.stream.letters


def test_a_range_of_which_a_record_fails_again_stays(office: Office) -> None:
    letter = a_letter(a_range(5, 8))
    office.stream.put(letter)
    office.consumer.poison = {6, 8}
    detail = "2 of 4 records failed, the first at sequence number 6."
    assert redriven(office) == (told(letter, Outcome.FAILED, records=2, detail=detail),)
    assert list(office.stream.letters) == [letter.message_id]
    office.consumer.poison = set()
    assert redriven(office) == (told(letter, Outcome.REPLAYED, records=4),)


def test_a_range_that_is_trimmed_stays_as_the_trace_of_the_loss(office: Office) -> None:
    letter = a_letter(a_range(5, 8))
    office.stream.put(letter)
    office.history.horizon = 9
    detail = f"Nothing is left of {a_range(5, 8)}."
    assert redriven(office) == (told(letter, Outcome.TRIMMED, detail=detail),)
    assert list(office.stream.letters) == [letter.message_id]
    assert not office.consumer.batches


def test_what_is_left_of_a_range_is_replayed_and_its_loss_reported(office: Office) -> None:
    letter = a_letter(a_range(5, 8))
    office.stream.put(letter)
    office.history.horizon = 7
    (done,) = redriven(office)
    assert (done.outcome, done.records) == (Outcome.PARTLY_TRIMMED, 2)
    assert done.detail == f"Part of {a_range(5, 8)} is trimmed. What is left begins at 7: 2 of 4 records."
    assert sorted(office.consumer.taken) == [7, 8]
    assert list(office.stream.letters) == [letter.message_id]


def test_an_end_goes_to_the_clean_up_again(office: Office) -> None:
    letter = a_letter(an_end("use1-xyz"))
    office.ended.put(letter)
    assert redriven(office) == (told(letter, Outcome.REQUEUED, CLEANUP),)
    assert office.sent.ends == [an_end("use1-xyz")]
    assert not office.ended.letters


def test_an_unreadable_letter_stays(office: Office) -> None:
    letter = a_letter(Unreadable(reason="not a letter"))
    office.stream.put(letter)
    assert redriven(office) == (told(letter, Outcome.UNREADABLE, detail="not a letter"),)
    assert list(office.stream.letters) == [letter.message_id]


@pytest.mark.parametrize("busy", ["history", "consumer"])
def test_a_throttled_letter_stays_and_the_report_has_the_others(office: Office, busy: str) -> None:
    letter, end = a_letter(a_range(5, 8)), a_letter(an_end())
    office.stream.put(letter)
    office.ended.put(end)
    getattr(office, busy).busy = True
    first, second = redriven(office)
    assert (first.outcome, first.records) == (Outcome.FAILED, 0)
    assert "busy or did not answer" in str(first.detail)
    assert second.outcome is Outcome.REQUEUED
    assert list(office.stream.letters) == [letter.message_id]


def test_a_stop_between_replay_and_removal_is_made_good_by_the_next_redrive(office: Office) -> None:
    letter = a_letter(a_range(5, 8))
    office.stream.put(letter)
    office.stream.busy = 1
    assert [done.outcome for done in redriven(office)] == [Outcome.FAILED]
    assert [done.outcome for done in redriven(office)] == [Outcome.REPLAYED]
    assert office.consumer.batches == [[5, 6, 7, 8]] * 2
    assert sorted(office.consumer.taken) == [5, 6, 7, 8]
    assert not office.stream.letters


def test_two_operators_at_once_work_on_different_letters(office: Office) -> None:
    mine, theirs = a_letter(a_range(1, 2)), a_letter(a_range(3, 4))
    office.stream.put(theirs, mine)
    held = office.stream.receive(most=1, hidden=300)
    assert [done.message_id for done in redriven(office)] == [mine.message_id]
    office.stream.release(held)
    assert [done.message_id for done in redriven(office)] == [theirs.message_id]


def test_a_letter_that_stays_is_tried_once_per_request_and_released(office: Office) -> None:
    office.stream.put(*(a_letter(Unreadable(reason="no")) for _ in range(3)))
    assert len(redriven(office)) == 3
    assert not office.stream.hidden


def test_a_letter_whose_visibility_timeout_expired_ends_the_redrive(office: Office) -> None:
    """A letter received twice shows that the queue starts over."""
    office.stream.put(a_letter(Unreadable(reason="no")))
    receive = office.stream.receive

    def forgetful(*, most: int, hidden: int) -> tuple[Letter, ...]:
        office.stream.hidden.clear()
        return receive(most=most, hidden=hidden)

    office.stream.receive = forgetful  # type: ignore[method-assign] # the queue of this test
    assert len(redriven(office)) == 1


@pytest.mark.parametrize(
    ("queue", "outcomes"),
    [
        (STREAM, [Outcome.REPLAYED]),
        (CLEANUP, [Outcome.REQUEUED]),
        (None, [Outcome.REPLAYED, Outcome.REQUEUED]),
    ],
)
def test_one_queue_or_both_are_redriven(
    office: Office, queue: QueueName | None, outcomes: list[Outcome]
) -> None:
    office.stream.put(a_letter(a_range(1, 1)))
    office.ended.put(a_letter(an_end()))
    assert [done.outcome for done in redriven(office, queue=queue)] == outcomes


def test_no_more_letters_than_asked_for_are_redriven_and_the_rest_is_said(office: Office) -> None:
    office.stream.put(*(a_letter(a_range(n, n)) for n in (1, 2, 3)))
    office.ended.put(a_letter(an_end()))
    first = office.dead_letters.redrive(OPERATOR, queue=None, most=2)
    assert (len(first.letters), first.more) == (2, True)
    rest = office.dead_letters.redrive(OPERATOR, queue=None, most=20)
    assert (len(rest.letters), rest.more) == (2, False)


def test_no_letter_is_begun_without_the_time_for_it(office: Office) -> None:
    office.stream.put(*(a_letter(a_range(n, n)) for n in (1, 2, 3)))
    office.deadline.expires_in(LETTER_SECONDS + 0.5)
    replay = office.consumer.replay

    def slow(records: Any) -> tuple[int, ...]:
        office.now += 0.4
        return replay(records)

    office.consumer.replay = slow  # type: ignore[method-assign] # the consumer of this test
    report = office.dead_letters.redrive(OPERATOR, queue=None, most=20)
    assert ([done.outcome for done in report.letters], report.more) == ([Outcome.REPLAYED] * 2, True)
    assert len(office.stream.letters) == 1
