"""Tool calls and free claims through the deployed gateway: begun, held, ended, taken over, told of."""

import time
from typing import Any
from urllib.parse import quote

import pytest

from local.signed_http import Answer
from session_store.domain.claim import LEASE_SKEW_MARGIN_MS
from tests.support.calls import (
    Acting,
    assert_problem,
    create_in,
    exact,
    items,
    move,
    new_subject,
    read,
    running_call,
)
from tests.support.crowd import at_once
from tests.support.raw_table import RawTable

OVER = 1 + LEASE_SKEW_MARGIN_MS / 1000 + 0.5
"""Seconds after which a lease of one second is over."""

CALL_IDS = ["a", "a#b", "a%23b", "x" * 200]


def begin(api: Acting, session_id: str, call_id: str = "c1", **changes: object) -> Answer:
    return api.call("POST", f"/sessions/{session_id}/tool-calls", running_call(call_id, **changes))


def step(api: Acting, session_id: str, name: str, body: object, call_id: str = "c1") -> Answer:
    return api.call("POST", f"/sessions/{session_id}/tool-calls/{quote(call_id, safe='')}/{name}", body)


def test_a_call_is_begun_completed_with_its_session_and_never_run_again(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active")
    begun = begin(api, session_id, attemptId="a")
    assert begun.status == 201
    assert begin(api, session_id, attemptId="a").json == begun.json
    assert_problem(begin(api, session_id), 409, "in-progress")
    assert 1 <= int(begin(api, session_id).headers["retry-after"]) <= 64
    done = {
        "fence": begun.json["fence"],
        "output": {"paid": True},
        "state": {"increment": {"n": 1}},
        "messages": [{"content": "paid"}],
        "status": {"to": "closing"},
        "expectedVersion": 2,
    }
    completed = step(api, session_id, "complete", done)
    assert completed.status == 200
    there = read(api, session_id)
    assert completed.json["session"] == {"version": 3, "ttl": there["ttl"]}
    assert (there["state"], there["status"], there["version"]) == ({"n": 1}, "closing", 3)
    assert [item["content"] for item in items(api, f"/sessions/{session_id}/context")] == ["paid"]
    assert move(api, session_id, "closed").status == 200
    before = raw.partition(session_id)
    time.sleep(1)
    assert step(api, session_id, "complete", done).json["output"] == {"paid": True}
    assert_problem(step(api, session_id, "complete", {**done, "output": 1}), 422, "idempotency-mismatch")
    assert begin(api, session_id).json["output"] == {"paid": True}
    assert raw.partition(session_id) == before


def test_a_call_id_holds_whatever_an_id_may(api: Acting) -> None:
    session_id = create_in(api, "active")
    fences = {call_id: begin(api, session_id, call_id).json["fence"] for call_id in CALL_IDS}
    for call_id, fence in fences.items():
        answer = step(api, session_id, "complete", {"fence": fence, "output": call_id}, call_id)
        assert (answer.status, answer.json["output"]) == (200, call_id)
    listed = items(api, f"/sessions/{session_id}/tool-calls")
    assert sorted(item["toolCallId"] for item in listed) == sorted(CALL_IDS)


def test_a_dead_worker_leaves_a_call_unknown_or_to_be_taken_over(api: Acting) -> None:
    session_id = create_in(api, "active")
    begin(api, session_id, "unsafe", leaseSeconds=1)
    zombie = begin(api, session_id, "safe", leaseSeconds=1, retrySafe=True).json
    time.sleep(OVER)
    assert_problem(begin(api, session_id, "unsafe"), 409, "outcome-unknown")
    recovery = api.call("GET", f"/sessions/{session_id}/recovery").json
    assert [call["toolCallId"] for call in recovery["outcomeUnknown"]] == ["unsafe"]
    assert [call["toolCallId"] for call in recovery["inFlight"]] == ["safe"]
    newer = begin(api, session_id, "safe", retrySafe=True).json
    assert newer["fence"] > zombie["fence"]
    assert newer["downstreamToken"] == zombie["downstreamToken"]
    late = {"fence": zombie["fence"], "output": "late"}
    assert_problem(step(api, session_id, "complete", late, "safe"), 409, "fenced")
    done = {"fence": newer["fence"], "output": "new"}
    assert step(api, session_id, "complete", done, "safe").status == 200
    found_out = {"outcome": "failed", "error": "never arrived"}
    assert step(api, session_id, "reconcile", found_out, "unsafe").json["status"] == "failed"
    assert api.call("GET", f"/sessions/{session_id}/recovery").json["outcomeUnknown"] == []


def test_numbers_of_an_input_come_back_exact(api: Acting) -> None:
    session_id = create_in(api, "active")
    begun = begin(api, session_id, input={"a": 0.1, "b": 9007199254740993})
    value = exact(begun.body)["input"]
    assert (str(value["a"]), str(value["b"])) == ("0.1", "9007199254740993")
    path = f"/claims/{new_subject()}"
    claimed = api.call("PUT", path, {"input": {"a": 0.1, "b": 9007199254740993}})
    assert exact(claimed.body)["input"] == value


def test_of_many_at_one_moment_one_begins(api: Acting) -> None:
    session_id = create_in(api, "active")
    answers = at_once(8, lambda _: begin(api, session_id).status)
    assert sorted(answers) == [201] + [409] * 7


def test_a_free_key_is_claimed_once_and_answered_again(api: Acting) -> None:
    path = f"/claims/{new_subject()}"
    body = {"input": {"b": 1, "a": [1.0]}, "retainSeconds": 172_800}
    begun = api.call("PUT", path, body)
    assert begun.status == 201
    fence = begun.json["fence"]
    held = api.call("POST", f"{path}/heartbeat", {"fence": fence, "leaseSeconds": 120})
    assert held.json["leaseUntil"] > begun.json["leaseUntil"]
    done: dict[str, Any] = {"fence": fence, "output": {"id": 7}}
    assert api.call("POST", f"{path}/complete", done).status == 200
    assert api.call("POST", f"{path}/complete", done).status == 200
    replay = api.call("PUT", path, {"input": {"a": [1], "b": 1}})
    assert (replay.status, replay.json["output"]) == (200, {"id": 7})
    assert_problem(api.call("PUT", path, {"input": 2}), 422, "idempotency-mismatch")
    assert api.call("GET", path).json["output"] == {"id": 7}


@pytest.mark.parametrize("name", ["complete", "fail", "heartbeat", "reconcile"])
def test_a_stranger_meets_no_claim(api: Acting, name: str) -> None:
    key = new_subject()
    fence = api.call("PUT", f"/claims/{key}", {"input": 1}).json["fence"]
    bodies: dict[str, dict[str, Any]] = {
        "complete": {"fence": fence, "output": 1},
        "fail": {"fence": fence, "error": 1},
        "heartbeat": {"fence": fence, "leaseSeconds": 9},
        "reconcile": {"outcome": "retry"},
    }
    stranger = Acting(api.api, new_subject())
    assert_problem(stranger.call("POST", f"/claims/{key}/{name}", bodies[name]), 404, "not-found")
    assert_problem(stranger.call("GET", f"/claims/{key}"), 404, "not-found")
