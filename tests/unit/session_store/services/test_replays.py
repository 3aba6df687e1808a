"""A range goes to the consumer in order, in batches that fit into an invocation."""

from dataclasses import replace

import pytest

from session_store.domain.dead_letter import Outcome
from session_store.errors import ThrottledError
from session_store.services.replays import BATCH, BATCH_BYTES
from tests.support.dead_letters import BATCH_SECONDS, Office, a_range, event


@pytest.fixture
def office() -> Office:
    office = Office()
    office.history.records = [event(number) for number in range(1, 251)]
    return office


def test_a_long_range_goes_in_several_batches_in_order(office: Office) -> None:
    replay = office.dead_letters.replays.run(a_range(1, 250))
    assert (replay.outcome, replay.records, replay.detail) == (Outcome.REPLAYED, 250, None)
    assert [len(batch) for batch in office.consumer.batches] == [BATCH, BATCH, 50]
    assert [n for batch in office.consumer.batches for n in batch] == list(range(1, 251))


def test_large_records_make_small_batches(office: Office) -> None:
    large = {"N": "1", "filler": "x" * (BATCH_BYTES // 2)}
    office.history.records = [{**event(number), "filler": large} for number in (1, 2, 3)]
    office.dead_letters.replays.run(a_range(1, 3))
    assert office.consumer.batches == [[1], [2], [3]]


def test_after_a_batch_that_failed_nothing_more_is_tried(office: Office) -> None:
    office.consumer.poison = {150, 160}
    replay = office.dead_letters.replays.run(a_range(1, 250))
    assert (replay.outcome, replay.records) == (Outcome.FAILED, 198)
    assert replay.detail == (
        "2 of 250 records failed, the first at sequence number 150; 50 later ones were not tried."
    )
    assert len(office.consumer.batches) == 2


def test_heartbeats_are_kept_from_the_consumer_as_the_mapping_keeps_them(office: Office) -> None:
    office.history.records = [event(1), event(2, pk="heartbeat#us-east-1"), event(3)]
    replay = office.dead_letters.replays.run(a_range(1, 3, records=2))
    assert (replay.outcome, replay.records) == (Outcome.REPLAYED, 2)
    assert office.consumer.batches == [[1, 3]]


def test_no_batch_is_begun_without_the_time_for_it(office: Office) -> None:
    office.deadline.expires_in(BATCH_SECONDS - 1)
    replay = office.dead_letters.replays.run(a_range(1, 10))
    assert (replay.outcome, replay.records) == (Outcome.FAILED, 0)
    assert replay.detail == "Out of time after 0 of 10 records."
    assert not office.consumer.batches


def test_a_consumer_that_is_out_of_reach_leaves_the_range(office: Office) -> None:
    office.consumer.busy = True
    replay = office.dead_letters.replays.run(a_range(1, 10))
    assert (replay.outcome, replay.records) == (Outcome.FAILED, 0)
    assert str(replay.detail).endswith("0 of 10 records were accepted before.")


def test_what_is_left_of_a_trimmed_range_may_fail_too(office: Office) -> None:
    office.history.horizon = 7
    office.consumer.poison = {8}
    replay = office.dead_letters.replays.run(a_range(5, 8))
    assert (replay.outcome, replay.records) == (Outcome.PARTLY_TRIMMED, 1)
    assert "What is left begins at 7: 2 of 4 records." in str(replay.detail)
    assert "1 of 2 records failed, the first at sequence number 8." in str(replay.detail)


def test_a_stream_that_cannot_be_read_now_is_said(office: Office) -> None:
    office.history = replace(office.history, busy=True)
    with pytest.raises(ThrottledError):
        office.dead_letters.replays.run(a_range(5, 8))
