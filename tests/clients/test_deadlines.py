"""How long a call pauses between attempts, and that every call ends in time."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session_store_client import errors
from session_store_client.calls import Call, Repeat
from session_store_client.exchanges import Retries, StepResult
from tests.clients.exchange_samples import (
    DOUBTFUL,
    EVERY,
    GET,
    NOT_DONE,
    REFUSALS,
    WRITES,
    success,
)
from tests.support.client_answers import Played, client_settings, lost, ok, problem


def test_a_pause_is_retry_after_plus_jitter_up_to_a_doubling_bound() -> None:
    events = [problem(503, "throttled", wait=2), *[problem(503, "throttled")] * 3, ok()]
    most = Played(
        events=events, settings=client_settings(retries=Retries(pause_seconds=0.5, longest_pause_seconds=1.5))
    )
    most.run(GET)
    assert most.pauses == [2.5, 1.0, 1.5, 1.5]
    least = Played(events=events, jitter=lambda low, _: low)
    least.run(GET)
    assert least.pauses == [2.0, 0.0, 0.0, 0.0]


def test_no_pause_passes_the_deadline() -> None:
    played = Played(events=[problem(429, "throttled", wait=61)])
    with pytest.raises(errors.ThrottledError):
        played.run(GET)
    assert played.pauses == []


def test_an_attempt_may_take_the_rest_of_the_deadline() -> None:
    retries = Retries(attempt_seconds=30, deadline_seconds=40, pause_seconds=0)
    played = Played(events=[lost(), lost()], settings=client_settings(retries=retries), attempt_seconds=30)
    with pytest.raises(errors.UnreachableError):
        played.run(GET)
    assert [attempt.timeout_seconds for attempt in played.attempts] == [30, 10]


ALL_EVENTS = st.sampled_from(
    [*NOT_DONE, *DOUBTFUL, *(problem(status, slug) for slug, (status, _) in REFUSALS.items())]
)


@given(
    call=st.sampled_from(EVERY),
    failures=st.lists(ALL_EVENTS, max_size=7),
    seconds=st.floats(0, 40),
    attempts=st.integers(1, 6),
)
def test_every_failing_call_ends_in_time_with_a_correct_error(
    call: Call[Any], failures: list[StepResult], seconds: float, attempts: int
) -> None:
    retries = Retries(attempts=attempts)
    events = [*failures, success(call)]
    played = Played(events=events, settings=client_settings(retries=retries), attempt_seconds=seconds)
    try:
        played.run(call)
        outcome: object = None
    except errors.SessionStoreError as error:
        outcome = error
    met = failures[: len(played.attempts)]
    assert len(played.attempts) <= attempts
    assert played.now <= retries.deadline_seconds
    assert all(attempt.body == played.attempts[0].body for attempt in played.attempts)
    assert all(attempt.headers == played.attempts[0].headers for attempt in played.attempts)
    doubted = [event for event in met if event in DOUBTFUL]
    if call.repeat is Repeat.NEVER and doubted:
        assert met.index(doubted[0]) == len(played.attempts) - 1
    if call in WRITES and doubted and call.repeat is not Repeat.RECOGNISED:
        allowed = (errors.OutcomeUnknownError, errors.SessionNotFoundError, errors.VersionConflictError)
        # What is known by its ids is known to be another.
        by_ids = (errors.IdempotencyMismatchError,) if call.repeat is Repeat.RECOGNISED_APPEND else ()
        assert outcome is None or isinstance(outcome, (*allowed, *by_ids))
    if not doubted:
        assert not isinstance(outcome, errors.OutcomeUnknownError)
