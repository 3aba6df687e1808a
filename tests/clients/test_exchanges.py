"""Retries: no call takes effect twice, and none is retried in vain."""

from typing import Any

import pytest

from session_store_client import (
    CredentialsError,
    errors,
    tool_call_calls,
)
from session_store_client.calls import Call, Repeat
from session_store_client.exchanges import StepResult
from session_store_client.problems import HttpResponse
from tests.clients.exchange_samples import (
    APPEND,
    BEGIN,
    CHANGE,
    COMPLETE,
    CREATE,
    DELETE,
    DOUBTFUL,
    DRAIN,
    EVERY,
    GET,
    MOVE,
    NOT_DONE,
    RECONCILE,
    RECORD,
    REDRIVE,
    REFUSALS,
    REPEATED,
    REPLACE,
    TOUCH,
    WRITES,
    named,
    success,
)
from tests.support.client_answers import SESSION_ID, Played, lost, problem


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
        (RECONCILE, {"session-not-found"}),
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


@pytest.mark.parametrize("before", [[], [lost()], [problem(503, "throttled")]], ids=["first", "lost", "busy"])
def test_a_verdict_about_an_attempt_is_not_kept_until_its_lease_ends(before: list[StepResult]) -> None:
    running = problem(409, "in-progress", wait=1)
    played = Played(events=[*before, running, success(RECONCILE)])
    with pytest.raises(errors.InProgressError):
        played.run(RECONCILE)
    assert len(played.attempts) == len(before) + 1


@pytest.mark.parametrize("call", EVERY, ids=named)
def test_a_success_that_cannot_be_read_leaves_the_outcome_of_a_write_unknown(call: Call[Any]) -> None:
    played = Played(events=[HttpResponse(status=200, headers={}, body=b"<html>")])
    repeatable = call.repeat is Repeat.IDEMPOTENT
    with pytest.raises(errors.UnreadableAnswerError if repeatable else errors.OutcomeUnknownError) as raised:
        played.run(call)
    assert repeatable or isinstance(raised.value.__cause__, errors.UnreadableAnswerError)
    assert len(played.attempts) == 1


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
