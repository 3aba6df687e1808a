"""Tool calls and claims on DynamoDB on bad days: each effect once, or a clear word that nobody knows."""

import secrets
from decimal import Decimal
from typing import Any

import pytest

from session_store.services.tool_calls.begin import NewCall
from tests.support.faults import (
    EVERY_WRITE,
    cancelled,
    conflict,
    crash_at,
    lose_first_answer,
    refuse,
    running,
    throttled,
    token_used,
)
from tests.support.samples import ALICE, DAY
from tests.support.workers import CrashError, Effects, Worker, session_of

WRITTEN: Effects = (1, 1, ["of the call"], 1, "closing")
UNWRITTEN: Effects = (0, 0, [], 0, "active")


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_as_it_begins_is_followed_by_its_retry(
    worker: Worker, other: Worker, *, after: bool
) -> None:
    session_id = other.open()
    crash_at(worker.client, 0, CrashError, after=after, operations=EVERY_WRITE)
    with pytest.raises(CrashError):
        worker.begin(session_id, attemptId="a")
    begun = other.begin(session_id, attemptId="a")
    assert begun.status == 201
    assert other.complete(session_id, begun.json["fence"]).status == 200
    assert other.effects(session_id) == WRITTEN


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("number", [0, 1])
def test_a_worker_that_dies_as_it_begins_in_a_short_session_is_followed_by_its_retry(
    worker: Worker, other: Worker, number: int, *, after: bool
) -> None:
    """Two writes: the session's end is moved, and the claim put."""
    session_id = other.api.open(idleTimeout=10)
    crash_at(worker.client, number, CrashError, after=after, operations=EVERY_WRITE)
    with pytest.raises(CrashError):
        worker.begin(session_id, attemptId="a")
    begun = other.begin(session_id, attemptId="a")
    assert begun.status == 201
    session = other.storage.sessions.read(session_id)
    assert session is not None
    assert session.ttl * 1000 >= other.clock.now_ms() + 120_000


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_as_it_completes_has_done_all_or_nothing(
    worker: Worker, other: Worker, *, after: bool
) -> None:
    session_id = other.open()
    fence = other.begin(session_id).json["fence"]
    crash_at(worker.client, 0, CrashError, after=after, operations=EVERY_WRITE)
    with pytest.raises(CrashError):
        worker.complete(session_id, fence)
    assert other.effects(session_id) == (WRITTEN if after else UNWRITTEN)
    assert other.complete(session_id, fence).status == 200
    assert other.effects(session_id) == WRITTEN


def test_who_comes_after_a_dead_worker_hears_that_nobody_knows(worker: Worker, other: Worker) -> None:
    session_id = other.open()
    fence = other.begin(session_id).json["fence"]
    crash_at(worker.client, 0, CrashError, after=False, operations=EVERY_WRITE)
    with pytest.raises(CrashError):
        worker.complete(session_id, fence)
    assert other.begin(session_id).slug == "in-progress"
    other.clock.pass_(64)
    assert (other.begin(session_id).status, other.begin(session_id).slug) == (409, "outcome-unknown")
    path = f"/sessions/{session_id}/tool-calls/c1/reconcile"
    assert other.api.call("POST", path, {"outcome": "completed", "output": "done"}).status == 200
    assert other.begin(session_id).json["output"] == "done"
    assert other.complete(session_id, fence).slug == "fenced"


@pytest.mark.parametrize(
    "answers",
    [
        [cancelled("TransactionConflict", *["None"] * 4)] * 3,
        [cancelled("ThrottlingError", *["None"] * 4)],
        [running()] * 2,
        [throttled()],
        [conflict()],
    ],
)
def test_what_passes_is_waited_for(worker: Worker, answers: list[dict[str, Any]]) -> None:
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]
    refused = refuse(worker.client, "TransactWriteItems", answers)
    assert worker.complete(session_id, fence).status == 200
    assert refused.total() == len(answers)
    assert worker.effects(session_id) == WRITTEN


@pytest.mark.parametrize("fault", [throttled(), cancelled("TransactionConflict", "None"), token_used()])
def test_what_does_not_pass_is_told_as_nothing_done(worker: Worker, fault: dict[str, Any]) -> None:
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]
    refuse(worker.client, "TransactWriteItems", [fault] * 40)
    answer = worker.complete(session_id, fence)
    assert (answer.status, answer.slug, answer.headers["Retry-After"]) == (503, "throttled", "1")
    assert worker.effects(session_id) == UNWRITTEN


def test_a_transaction_that_is_invalid_is_not_sent_again(worker: Worker) -> None:
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]
    mixed = cancelled("ValidationError", "TransactionConflict", "None", "None")
    refused = refuse(worker.client, "TransactWriteItems", [mixed] * 5)
    assert worker.complete(session_id, fence).status == 500
    assert refused.total() == 1


def test_a_token_that_did_the_work_is_replayed(worker: Worker, other: Worker) -> None:
    """The first request of the token is done after this one has read, and before it is sent."""
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]

    def answers() -> Any:
        assert other.complete(session_id, fence).status == 200
        yield token_used()

    refuse(worker.client, "TransactWriteItems", answers())
    assert worker.complete(session_id, fence).json["output"] == "done"
    assert worker.effects(session_id) == WRITTEN


def test_a_token_that_did_another_work_is_a_mismatch(worker: Worker, other: Worker) -> None:
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]

    def answers() -> Any:
        assert other.complete(session_id, fence, output="other").status == 200
        yield token_used()

    refuse(worker.client, "TransactWriteItems", answers())
    assert worker.complete(session_id, fence).slug == "idempotency-mismatch"


def test_a_refusal_beside_a_twin_at_the_claim_is_not_believed(worker: Worker) -> None:
    """What the session refuses may be the twin's own work."""
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]
    met = cancelled("TransactionConflict", "None", "None", "None", "ConditionalCheckFailed")
    refused = refuse(worker.client, "TransactWriteItems", [met])
    assert worker.complete(session_id, fence).status == 200
    assert refused.total() == 1
    assert worker.effects(session_id) == WRITTEN


def test_a_message_that_comes_in_between_is_left_out_under_another_token(
    worker: Worker, other: Worker
) -> None:
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]
    message = {
        "content": "of the call",
        "messageId": worker.store.context.ids.message_id(worker.clock.now_ms()),
    }
    tokens: list[str] = []

    def answers() -> Any:
        path = f"/sessions/{session_id}/context"
        assert other.api.call("POST", path, {"messages": [message]}).status == 201
        yield None

    worker.client.meta.events.register(
        "provide-client-params.dynamodb.TransactWriteItems",
        lambda params, **_: tokens.append(params["ClientRequestToken"]),
    )
    refuse(worker.client, "TransactWriteItems", answers())
    assert worker.complete(session_id, fence, messages=[message]).status == 200
    assert len(set(tokens)) == len(tokens) == 2
    assert worker.effects(session_id) == WRITTEN


@pytest.mark.parametrize("change", [{"messages": [{"content": 1}]}, {}], ids=["messages", "nothing"])
def test_a_session_that_moves_on_in_between_is_not_at_the_version_that_was_expected(
    worker: Worker, other: Worker, change: dict[str, Any]
) -> None:
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]
    path = f"/sessions/{session_id}"
    body = {"fence": fence, "output": 1, "expectedVersion": 2, **change}

    def answers() -> Any:
        assert other.api.call("PATCH", f"{path}/state", {"set": {"other": 1}}).status == 200
        yield None

    refuse(worker.client, "TransactWriteItems", answers())
    refused = worker.api.call("POST", f"{path}/tool-calls/c1/complete", body)
    assert (refused.status, refused.slug, refused.json["currentVersion"]) == (409, "version-conflict", 3)
    assert worker.effects(session_id) == UNWRITTEN


def test_a_lost_answer_that_outlasts_its_token_is_recognised(worker: Worker) -> None:
    """Ten minutes later DynamoDB has forgotten the token: the claim's condition has not."""
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]

    def forget(params: dict[str, Any], **_: Any) -> None:
        params["ClientRequestToken"] = secrets.token_hex(16)

    with lose_first_answer(worker.client, "TransactWriteItems"):
        worker.client.meta.events.register("before-parameter-build.dynamodb.TransactWriteItems", forget)
        assert worker.complete(session_id, fence).status == 200
    assert worker.effects(session_id) == WRITTEN


def test_tokens_of_long_call_ids_are_short_and_differ(worker: Worker) -> None:
    session_id = worker.open()
    tokens: list[str] = []
    worker.client.meta.events.register(
        "provide-client-params.dynamodb.TransactWriteItems",
        lambda params, **_: tokens.append(params["ClientRequestToken"]),
    )
    shared = "s" * 36
    for call_id in (shared + "abcde", shared + "x" * 47, "y" * 200):
        fence = worker.begin(session_id, call_id).json["fence"]
        path = f"/sessions/{session_id}/tool-calls/{call_id}/complete"
        assert worker.api.call("POST", path, {"fence": fence, "output": 1}).status == 200
    assert len(set(tokens)) == len(tokens) == 3
    assert {len(token) for token in tokens} == {36}


def test_numbers_come_back_as_they_went(worker: Worker) -> None:
    values = {"a": Decimal("0.1"), "b": 9007199254740993}
    new = NewCall(tool_call_id="c1", tool_name="pay", input=values)
    claim = worker.store.running_calls.begin(ALICE, session_of(worker), new).claim
    assert worker.store.tool_calls.get(ALICE, claim.session_id, "c1") == claim
    assert claim.input == values


def test_a_completion_that_closes_its_session_is_repeated_after_it_has_expired(
    worker: Worker, other: Worker
) -> None:
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]
    worker.api.call("POST", f"/sessions/{session_id}/status", {"to": "closing"})
    path = f"/sessions/{session_id}/tool-calls/c1/complete"
    body = {"fence": fence, "output": "done", "status": {"to": "closed"}}
    first = worker.api.call("POST", path, body)
    assert first.status == 200, first
    assert other.api.call("POST", path, body).json == first.json
    worker.clock.pass_(2 * DAY)
    assert other.api.call("GET", f"/sessions/{session_id}").status == 404
    again = other.api.call("POST", path, body)
    assert (again.status, again.json) == (200, {**first.json, "session": None})
    claim = worker.storage.tool_calls.read_call(session_id, "c1").claim
    assert claim is not None
    assert claim.is_settled
    assert other.api.call("POST", path, {**body, "output": "other"}).status == 404
