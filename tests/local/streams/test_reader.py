"""The reader of a shard delivers as Lambda does."""

import json
from typing import Any

import pytest

from local.streams.discards import DiscardCondition
from local.streams.filters import filter_criteria
from local.streams.mapping import RETENTION_SECONDS
from local.streams.reader import PAYLOAD_LIMIT, Progress
from local.streams.responses import InvocationResult
from tests.support.streams import (
    OK,
    RAISED,
    START,
    delivery,
    fails_on,
    numbers,
    record,
    refuses,
    succeeds,
    times,
)


def reports(*failed: int) -> InvocationResult:
    failures = [{"itemIdentifier": f"{number:021d}"} for number in failed]
    return InvocationResult(
        request_id="request-partial", payload=json.dumps({"batchItemFailures": failures}).encode()
    )


def test_records_come_in_order_in_batches_of_at_most_the_size() -> None:
    done = delivery(25, batch_size=10).to_the_end()
    assert done.batches == [list(range(1, 11)), list(range(11, 21)), list(range(21, 26))]
    assert done.checkpoints[-1] == 25
    assert not done.discards


def test_an_empty_shard_invokes_nothing() -> None:
    done = delivery(0, stays_open=True)
    assert done.reader.deliver_next() is Progress.IDLE
    assert done.batches == []
    assert done.checkpoints == []


def test_without_a_window_records_are_sent_at_once() -> None:
    done = delivery(2, arrivals=[0, 5], stays_open=True)
    assert done.reader.deliver_next() is Progress.MOVED
    assert done.batches == [[1]]
    assert done.clock.slept == []


def test_a_window_gathers_until_it_ends() -> None:
    done = delivery(4, arrivals=[0, 1, 2.5, 4], window=3, batch_size=10)
    done.reader.deliver_next()
    assert done.batches == [[1, 2, 3]]
    assert done.clock.now() == START + 3


def test_a_full_batch_does_not_wait_for_its_window() -> None:
    done = delivery(4, window=300, batch_size=2)
    done.reader.deliver_next()
    assert done.batches == [[1, 2]]
    assert done.clock.now() == START


def test_a_batch_ends_before_it_passes_the_payload_limit() -> None:
    blob = "x" * (PAYLOAD_LIMIT // 3)
    records = [record(number, NewImage={"blob": {"S": blob}}) for number in range(1, 6)]
    assert delivery(records).to_the_end().batches == [[1, 2], [3, 4], [5]]


def test_filtered_records_are_counted_as_delivered() -> None:
    inserts = filter_criteria({"Filters": [{"Pattern": '{"eventName": ["INSERT"]}'}]})
    kinds = ["MODIFY", "INSERT", "MODIFY", "INSERT", "INSERT", "MODIFY", "MODIFY"]
    records = [record(number, event_name=kind) for number, kind in enumerate(kinds, start=1)]
    done = delivery(records, filters=inserts, batch_size=2).to_the_end()
    assert done.batches == [[2, 4], [5]]
    assert done.checkpoints[-1] == 7


def test_a_batch_of_filtered_records_alone_moves_on_without_an_invocation() -> None:
    nothing = filter_criteria({"Filters": [{"Pattern": '{"eventName": ["NONE"]}'}]})
    done = delivery(3, filters=nothing, window=60, stays_open=True)
    assert done.reader.deliver_next() is Progress.MOVED
    assert done.reader.deliver_next() is Progress.IDLE
    assert done.checkpoints == [3]
    assert done.clock.now() == START


def test_one_poisoned_record_of_a_thousand_is_discarded_alone() -> None:
    done = delivery(1000, fails_on(700), bisects=True, max_retries=2, batch_size=100).to_the_end()
    assert done.discarded == [[700]]
    assert done.discards[0].condition is DiscardCondition.RETRY_ATTEMPTS_EXHAUSTED
    delivered = [number for batch in done.batches if 700 not in batch for number in batch]
    assert delivered == [number for number in range(1, 1001) if number != 700]
    assert done.batches.count([700]) == 3


def test_a_split_halves_and_costs_no_attempt() -> None:
    done = delivery(4, fails_on(3), bisects=True, max_retries=0).to_the_end()
    assert done.batches == [[1, 2, 3, 4], [1, 2], [3, 4], [3], [4]]
    assert done.discarded == [[3]]
    assert done.discards[0].invocations == 1


@pytest.mark.parametrize("retries", [0, 1, 5])
def test_a_failing_batch_is_retried_just_as_often_as_is_set(retries: int) -> None:
    done = delivery(3, fails_on(2), max_retries=retries).to_the_end()
    assert done.batches == [[1, 2, 3]] * (retries + 1)
    assert done.discarded == [[1, 2, 3]]
    assert done.discards[0].invocations == retries + 1
    assert done.discards[0].answer == RAISED


def test_a_retry_that_succeeds_discards_nothing() -> None:
    done = delivery(3, times({1: RAISED, 2: RAISED}), max_retries=2).to_the_end()
    assert done.batches == [[1, 2, 3]] * 3
    assert not done.discards


def test_pauses_before_retries_grow_to_the_longest() -> None:
    done = delivery(1, fails_on(1), max_retries=4).to_the_end()
    assert done.clock.slept == [1.0, 2.0, 4.0, 4.0]


def test_the_shard_goes_on_after_a_discarded_batch() -> None:
    done = delivery(6, fails_on(1, 2), batch_size=2, max_retries=0).to_the_end()
    assert done.batches == [[1, 2], [3, 4], [5, 6]]
    assert done.discarded == [[1, 2]]


def test_unlimited_retries_end_when_the_stream_would_drop_the_record() -> None:
    done = delivery(1, fails_on(1)).to_the_end()
    assert [discard.condition for discard in done.discards] == [DiscardCondition.RECORD_AGE_EXCEEDED]
    assert done.discards[0].invocations == len(done.batches)
    assert RETENTION_SECONDS < done.clock.now() - START <= RETENTION_SECONDS + 4


def test_a_record_too_old_is_discarded_and_the_younger_go_on() -> None:
    records = [record(1, created=START - 100), record(2, created=START - 61), record(3, created=START - 59)]
    done = delivery(records, max_age=60).to_the_end()
    assert done.batches == [[3]]
    assert done.discarded == [[1, 2]]
    assert done.discards[0].condition is DiscardCondition.RECORD_AGE_EXCEEDED
    assert done.discards[0].invocations == 0
    assert done.discards[0].answer is None


def test_a_record_that_grows_too_old_between_retries_is_discarded_alone() -> None:
    records = [record(1, created=START - 58), record(2)]
    done = delivery(records, fails_on(1), max_age=60, max_retries=9).to_the_end()
    assert done.batches == [[1, 2], [1, 2], [2]]
    assert done.discarded == [[1]]
    assert done.discards[0].invocations == 2


def test_a_function_out_of_reach_costs_no_attempt_and_is_tried_until_the_records_are_too_old() -> None:
    done = delivery(2, refuses, max_retries=0, max_age=60).to_the_end()
    assert [discard.condition for discard in done.discards] == [DiscardCondition.RECORD_AGE_EXCEEDED]
    assert done.discards[0].invocations == 0
    assert len(done.batches) > 10


def test_a_partial_failure_is_resumed_at_the_lowest_failed_record() -> None:
    done = delivery(6, times({1: reports(5, 3)}), reports_failures=True).to_the_end()
    assert done.batches == [[1, 2, 3, 4, 5, 6], [3, 4, 5, 6]]
    assert done.checkpoints[0] == 2


def test_attempts_go_on_counting_when_a_partial_failure_shortens_the_batch() -> None:
    outcomes = {1: reports(2), 2: reports(3), 3: reports(4)}
    done = delivery(5, times(outcomes), reports_failures=True, max_retries=2).to_the_end()
    assert done.batches == [[1, 2, 3, 4, 5], [2, 3, 4, 5], [3, 4, 5]]
    assert done.discarded == [[4, 5]]
    assert done.discards[0].invocations == 3


def test_with_bisect_a_batch_is_split_at_the_reported_record() -> None:
    def behaviour(batch: Any) -> InvocationResult:
        return reports(4) if 4 in batch else OK

    done = delivery(6, behaviour, reports_failures=True, bisects=True, max_retries=1).to_the_end()
    assert done.batches == [[1, 2, 3, 4, 5, 6], [4, 5, 6], [4], [4], [5, 6]]
    assert done.discarded == [[4]]


def test_a_reported_failure_is_a_success_where_reports_are_not_asked_for() -> None:
    done = delivery(3, times({1: reports(1)})).to_the_end()
    assert done.batches == [[1, 2, 3]]


def test_a_function_error_halves_the_batch_regardless_of_reported_failures() -> None:
    done = delivery(2, fails_on(2), reports_failures=True, bisects=True, max_retries=0).to_the_end()
    assert done.batches == [[1, 2], [1], [2]]


def test_a_stop_between_retries_leaves_the_batch_for_the_next_start() -> None:
    done = delivery(4, fails_on(3), batch_size=2, max_retries=100, stop_at=5).to_the_end()
    assert done.reader.deliver_next() is Progress.STOPPED
    assert done.checkpoints[-1] == 2
    assert not done.discards


def test_exceptions_of_the_source_pass_through_without_progress() -> None:
    done = delivery(2, succeeds)
    done.reader.discard = lambda discard: (_ for _ in ()).throw(RuntimeError(str(numbers(discard.records))))
    done.reader.settings = type(done.reader.settings)(max_age=1)
    done.clock.time += 10
    with pytest.raises(RuntimeError, match=r"\[1, 2\]"):
        done.reader.deliver_next()
    assert done.checkpoints == []
