"""Retries: no call takes effect twice, none is retried in vain, and every call ends."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session_store_client import (
    CredentialsError,
    errors,
    message_calls,
    operator_calls,
    session_calls,
    tool_call_calls,
)
from session_store_client.calls import Call, Repeat
from session_store_client.exchanges import Retries, StepResult
from tests.support.client_answers import SESSION, SESSION_ID, Played, client_settings, lost, ok, problem

GET = session_calls.get_session(SESSION_ID)
CREATE = session_calls.create_session()
CHANGE = session_calls.change_state(SESSION_ID, increment={"n": 1})
REPLACE = session_calls.replace_state(SESSION_ID, {"a": 1}, version=3)
MOVE = session_calls.move_session(SESSION_ID, "active")
TOUCH = session_calls.touch_session(SESSION_ID)
DELETE = session_calls.delete_session(SESSION_ID)
APPEND = message_calls.append_messages(SESSION_ID, ["hello"])
RECORD = tool_call_calls.record_tool_call(SESSION_ID, "c1", tool_name="t", input=None, duration_ms=1)
BEGIN = tool_call_calls.begin_tool_call(SESSION_ID, "c1", tool_name="t", input=None)
BEAT = tool_call_calls.extend_tool_call(SESSION_ID, "c1", fence=1, lease_seconds=60)
COMPLETE = tool_call_calls.complete_tool_call(SESSION_ID, "c1", fence=1, output=None)
DRAIN = operator_calls.drain_sessions(within_seconds=60)
REDRIVE = operator_calls.redrive_dead_letters()

WRITES: list[Call[Any]] = [
    CREATE,
    CHANGE,
    REPLACE,
    MOVE,
    DELETE,
    APPEND,
    RECORD,
    BEGIN,
    COMPLETE,
    DRAIN,
    REDRIVE,
]
EVERY: list[Call[Any]] = [GET, TOUCH, BEAT, *WRITES]
REPEATED = [call for call in EVERY if call.repeat is not Repeat.NEVER]
NOT_DONE = [problem(503, "throttled", wait=1), problem(429, "throttled", wait=1), lost(sent=False)]
DOUBTFUL = [lost(), problem(500, "internal"), problem(504, "internal"), problem(503, "outcome-unknown")]


def named(value: object) -> str:
    return f"{value.method} {value.path.rpartition('/')[2]}" if isinstance(value, Call) else str(value)[:40]


def success(call: Call[Any]) -> StepResult:
    if call.method == "DELETE":
        return ok(None, status=204)
    record = {
        "toolCallId": "c1",
        "toolName": "t",
        "status": "completed",
        "input": None,
        "output": None,
        "error": None,
        "startedAt": "2026-11-30T08:30:00.123Z",
        "completedAt": None,
        "durationMs": 1,
        "fence": 1,
        "leaseUntil": None,
    }
    bodies: dict[str, object] = {
        "AppendedMessages": {"items": []},
        "ToolCall": record,
        "BegunToolCall": {**record, "downstreamToken": "t"},
        "FinishedToolCall": {**record, "session": None, "tasks": []},
        "OpenCall": {**record, "status": "in_progress", "leaseUntil": "z", "retrySafe": False},
        "Drained": {"moved": 1, "skipped": 0, "more": False},
        "Redriven": {"items": [], "more": False},
    }
    return ok(bodies.get(call.answer.__name__, SESSION))


@pytest.mark.parametrize("call", EVERY, ids=named)
@pytest.mark.parametrize("refusal", NOT_DONE, ids=named)
def test_an_attempt_without_effect_is_retried(call: Call[Any], refusal: StepResult) -> None:
    played = Played(events=[refusal, success(call)])
    played.run(call)
    assert len(played.attempts) == 2


@pytest.mark.parametrize("call", REPEATED, ids=named)
@pytest.mark.parametrize("loss", DOUBTFUL, ids=named)
def test_an_attempt_that_may_have_taken_effect_is_retried_if_that_is_safe(
    call: Call[Any], loss: StepResult
) -> None:
    played = Played(events=[loss, success(call)])
    played.run(call)
    assert played.attempts[0] == played.attempts[1]


@pytest.mark.parametrize("call", [DRAIN, REDRIVE], ids=named)
@pytest.mark.parametrize("loss", DOUBTFUL, ids=named)
def test_an_attempt_that_may_have_taken_effect_is_not_retried_if_the_answer_would_differ(
    call: Call[Any], loss: StepResult
) -> None:
    played = Played(events=[loss])
    with pytest.raises(errors.OutcomeUnknownError):
        played.run(call)
    assert len(played.attempts) == 1


@pytest.mark.parametrize("call", [CREATE, CHANGE], ids=named)
def test_every_attempt_of_a_call_has_one_key_and_every_call_its_own(call: Call[Any]) -> None:
    first, second = Played(events=[lost(), lost(), success(call)]), Played(events=[success(call)])
    first.run(call)
    second.run(call)
    keys = [attempt.headers["idempotency-key"] for attempt in first.attempts]
    assert len(keys) == 3
    assert len({*keys, second.attempts[0].headers["idempotency-key"]}) == 2
    assert all(0x20 < ord(each) < 0x7F for each in keys[0])
    assert 20 <= len(keys[0]) <= 256


@pytest.mark.parametrize("call", EVERY, ids=named)
def test_only_keyed_calls_send_a_key(call: Call[Any]) -> None:
    played = Played(events=[success(call)])
    played.run(call)
    assert ("idempotency-key" in played.attempts[0].headers) == (call in (CREATE, CHANGE))


def test_a_message_has_one_id_at_every_attempt() -> None:
    played = Played(events=[lost(), success(APPEND)])
    played.run(APPEND)
    assert b'"messageId":"' in played.attempts[0].body
    assert played.attempts[0].body == played.attempts[1].body


def test_not_found_after_a_lost_delete_is_a_success() -> None:
    assert Played(events=[lost(), problem(404, "session-not-found")]).run(DELETE) is None


def test_a_session_that_was_not_there_is_not_deleted() -> None:
    before: list[list[StepResult | Exception]] = [[], [lost(sent=False)]]
    for events in before:
        with pytest.raises(errors.SessionNotFoundError):
            Played(events=[*events, problem(404, "session-not-found")]).run(DELETE)


def test_a_path_that_is_not_there_does_not_tell_that_a_session_is_gone() -> None:
    with pytest.raises(errors.OutcomeUnknownError):
        Played(events=[lost(), problem(404, "not-found")]).run(DELETE)


REFUSALS = {
    "version-conflict": (412, errors.VersionConflictError),
    "session-closed": (409, errors.SessionClosedError),
    "invalid-transition": (409, errors.InvalidTransitionError),
    "already-decided": (409, errors.AlreadyDecidedError),
    "fenced": (409, errors.FencedError),
    "session-not-found": (404, errors.SessionNotFoundError),
    "idempotency-mismatch": (422, errors.IdempotencyMismatchError),
    "forbidden": (403, errors.ForbiddenError),
    "unauthenticated": (401, errors.UnauthenticatedError),
    "invalid-request": (400, errors.InvalidRequestError),
}


RECOGNISED = set(REFUSALS) - {"forbidden", "unauthenticated", "invalid-request"}


@pytest.mark.parametrize(
    ("call", "conclusive"),
    [
        (CHANGE, RECOGNISED),
        (COMPLETE, RECOGNISED),
        (BEGIN, {"session-not-found", "idempotency-mismatch"}),
        (APPEND, {"session-not-found", "idempotency-mismatch"}),
        (REPLACE, {"session-not-found"}),
        (MOVE, {"session-not-found"}),
        (DELETE, {"version-conflict"}),
        (TOUCH, set(REFUSALS)),
    ],
    ids=named,
)
@pytest.mark.parametrize("slug", REFUSALS)
def test_after_a_lost_response_a_refusal_is_raised_only_if_it_holds_for_the_lost_attempt_too(
    call: Call[Any], conclusive: set[str], slug: str
) -> None:
    status, kind = REFUSALS[slug]
    if call is DELETE and slug == "session-not-found":
        return
    with pytest.raises(kind if slug in conclusive else errors.OutcomeUnknownError) as raised:
        Played(events=[lost(), problem(status, slug, currentVersion=9)]).run(call)
    assert (raised.value.status, raised.value.facts["currentVersion"]) == (status, 9)
    assert slug in conclusive or isinstance(raised.value.__cause__, kind)


@pytest.mark.parametrize("call", EVERY, ids=named)
@pytest.mark.parametrize("slug", REFUSALS)
def test_a_refusal_is_raised_and_not_retried(call: Call[Any], slug: str) -> None:
    status, kind = REFUSALS[slug]
    played = Played(events=[problem(status, slug)])
    with pytest.raises(kind):
        played.run(call)
    assert len(played.attempts) == 1


@pytest.mark.parametrize("call", WRITES, ids=named)
def test_failing_credentials_do_not_hide_a_lost_response(call: Call[Any]) -> None:
    with pytest.raises(CredentialsError):
        Played(events=[CredentialsError("expired")]).run(call)
    with pytest.raises(errors.OutcomeUnknownError):
        Played(events=[lost(), CredentialsError("expired")]).run(call)


def test_throttling_of_every_attempt_means_no_effect() -> None:
    played = Played(events=[problem(503, "throttled")] * 5)
    with pytest.raises(errors.ThrottledError):
        played.run(CHANGE)
    assert len(played.attempts) == 5


def test_throttling_after_a_lost_response_leaves_the_outcome_unknown() -> None:
    with pytest.raises(errors.OutcomeUnknownError):
        Played(events=[lost(), *[problem(503, "throttled")] * 4]).run(CHANGE)


def test_a_read_without_a_response_is_no_unknown_outcome() -> None:
    with pytest.raises(errors.UnreachableError):
        Played(events=[lost()] * 5).run(GET)
    with pytest.raises(errors.ServerError):
        Played(events=[problem(500, "internal")] * 5).run(GET)


def test_a_503_in_other_words_than_throttled_may_have_been_done() -> None:
    for answer in (problem(503, "outcome-unknown"), problem(503, "something-new")):
        with pytest.raises(errors.OutcomeUnknownError):
            Played(events=[answer]).run(DRAIN)


def test_a_call_in_progress_is_asked_for_again() -> None:
    played = Played(events=[problem(409, "in-progress", wait=1), success(RECORD)])
    played.run(RECORD)
    assert played.pauses[0] >= 1


def test_the_same_words_tell_of_a_call_and_of_the_work_behind_it_by_their_status() -> None:
    with pytest.raises(errors.UnreconciledError):
        Played(events=[problem(409, "outcome-unknown")]).run(BEGIN)
    with pytest.raises(errors.OutcomeUnknownError):
        Played(events=[problem(503, "outcome-unknown")] * 5).run(BEGIN)


def test_an_attempt_has_one_name_however_often_it_is_sent_and_another_call_another() -> None:
    other = tool_call_calls.begin_tool_call(SESSION_ID, "c1", tool_name="t", input=None)
    played = Played(events=[lost(), success(BEGIN)])
    played.run(BEGIN)
    assert played.attempts[0].body == played.attempts[1].body
    assert BEGIN.body != other.body


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
