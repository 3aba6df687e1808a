"""Tool calls over the API: begun and held under a lease."""

from typing import Any

import pytest

from session_store.metric_names import Metric
from tests.support.api import InProcessApi
from tests.support.samples import NOW_SECONDS, SESSION_ID
from tests.support.session_calls import INPUT, OVER, Session


def test_a_call_is_begun_once_run_and_recorded(session: Session) -> None:
    begun = session.begin()
    assert begun.status == 201
    expected = {"toolCallId": "c1", "status": "in_progress", "input": INPUT, "output": None}
    assert {name: begun.json[name] for name in expected} == expected
    assert len(begun.json["downstreamToken"]) == 36
    assert session.call("GET", "/tool-calls/c1").json == {
        name: value for name, value in begun.json.items() if name != "downstreamToken"
    }
    assert session.call("GET", "/tool-calls").json["items"] == []
    session.clock.pass_(1.5)
    done = session.complete(begun.json["fence"])
    assert done.status == 200
    assert (done.json["status"], done.json["output"], done.json["durationMs"]) == (
        "completed",
        {"ok": True},
        1500,
    )
    assert (done.json["leaseUntil"], done.json["startedAt"]) == (None, begun.json["startedAt"])
    there = session.read()
    assert done.json["session"] == {"version": there["version"], "ttl": there["ttl"]}
    record = session.call("GET", "/tool-calls/c1").json
    assert record == {name: value for name, value in done.json.items() if name not in {"session", "tasks"}}
    assert session.call("GET", "/tool-calls").json["items"] == [record]
    assert [event.event_name for event in session.api.world.memory.events] == ["ToolCallCompleted"]


def test_the_same_begin_later_is_the_stored_outcome(session: Session) -> None:
    token = session.begin(attemptId="a").json["downstreamToken"]
    session.complete(session.fence(attemptId="a"))
    session.api.counts()
    session.clock.pass_(1)
    again = session.begin()
    assert (again.status, again.json["output"], again.json["downstreamToken"]) == (200, {"ok": True}, token)
    assert session.api.counts() == {Metric.SERVED: 1, Metric.REPLAYS: 1}


def test_the_same_attempt_is_given_its_fence_again(session: Session) -> None:
    first = session.begin(attemptId="a")
    session.clock.pass_(1)
    assert session.begin(attemptId="a").json == first.json


def test_a_running_call_is_in_progress_to_other_attempts(session: Session) -> None:
    session.begin()
    session.clock.pass_(20)
    other = session.begin()
    assert (other.status, other.slug, other.headers["Retry-After"]) == (409, "in-progress", "44")
    assert session.begin(input={"q": "y"}).slug == "idempotency-mismatch"
    assert session.begin(toolName="other").status == 422


def test_a_call_with_an_expired_lease_is_unknown_or_taken_over(session: Session) -> None:
    first = session.fence()
    safe = session.fence("c2", retrySafe=True)
    session.clock.pass_(OVER - 0.001)
    assert (session.begin().slug, session.begin("c2").slug) == ("in-progress", "in-progress")
    session.clock.pass_(0.001)
    unknown = session.begin()
    assert (unknown.status, unknown.slug) == (409, "outcome-unknown")
    assert session.fence("c2", retrySafe=True) > safe
    # No attempt has taken over, so the first holder may still end the call.
    assert session.complete(first).status == 200


@pytest.mark.parametrize("step", ["complete", "fail", "heartbeat"])
def test_a_stale_holder_is_fenced_and_the_newer_result_stands(session: Session, step: str) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "complete": {"output": "old"},
        "fail": {"error": "old"},
        "heartbeat": {"leaseSeconds": 9},
    }
    body = bodies[step]
    zombie = session.fence(retrySafe=True)
    session.clock.pass_(OVER)
    newer = session.fence(retrySafe=True)
    assert session.end(step, zombie, **body).slug == "fenced"
    session.complete(newer, output="new")
    assert session.end(step, zombie, **body).slug == "fenced"
    assert session.call("GET", "/tool-calls/c1").json["output"] == "new"


def test_a_heartbeat_extends_the_lease_and_the_session(api: InProcessApi) -> None:
    session = Session(api, idleTimeout=10)
    fence = session.fence(leaseSeconds=30)
    assert session.read()["ttl"] == NOW_SECONDS + 91 + 9
    session.clock.pass_(25)
    held = session.end("heartbeat", fence, leaseSeconds=3600)
    assert held.status == 200
    assert session.read()["ttl"] == NOW_SECONDS + 25 + 3661 + 366
    session.clock.pass_(3600)
    assert session.begin().slug == "in-progress"
    assert session.complete(fence).status == 200


def test_a_lease_ends_a_minute_before_the_latest_end_of_its_session(api: InProcessApi) -> None:
    session = Session(api, maxLifetime=300)
    begun = session.begin(leaseSeconds=3600).json
    assert begun["leaseUntil"] == "2027-01-15T08:04:00.000Z"
    assert session.read()["ttl"] == NOW_SECONDS + 300


def test_a_refused_begin_does_not_extend_the_session(api: InProcessApi) -> None:
    session = Session(api, idleTimeout=60)
    session.complete(session.fence(leaseSeconds=1))
    before = session.read()["ttl"]
    assert session.begin(leaseSeconds=3600).status == 200
    assert session.begin(leaseSeconds=3600, input="other").status == 422
    assert session.read()["ttl"] == before


@pytest.mark.parametrize(
    "change",
    [
        {"leaseSeconds": 0},
        {"leaseSeconds": 3601},
        {"leaseSeconds": "60"},
        {"leaseSeconds": True},
        {"attemptId": ""},
        {"toolCallId": ".."},
        {"toolCallId": "x" * 257},
        {"toolName": "a b"},
        {"retrySafe": 1},
        {"unknown": 1},
    ],
)
def test_a_begin_that_is_not_valid_writes_nothing(session: Session, change: dict[str, Any]) -> None:
    assert session.begin(**change).status == 400
    assert session.api.world.memory.claims == {}


def test_an_unknown_call_is_not_found_at_every_step(session: Session) -> None:
    assert session.complete(1).slug == "not-found"
    assert session.end("heartbeat", 1, leaseSeconds=9).slug == "not-found"
    assert session.reconcile("retry").slug == "not-found"


def test_another_caller_is_answered_as_for_an_unknown_session(session: Session) -> None:
    fence = session.fence()
    session.complete(fence)
    done = {"fence": fence, "output": {"ok": True}}
    for path, body in (
        ("/tool-calls", {"toolCallId": "c1", "toolName": "pay", "input": INPUT}),
        ("/tool-calls/c1/complete", done),
        ("/tool-calls/c1/fail", {"fence": fence, "error": 1}),
        ("/tool-calls/c1/heartbeat", {"fence": fence, "leaseSeconds": 3}),
        ("/tool-calls/c1/reconcile", {"outcome": "retry"}),
    ):
        there = session.call("POST", path, body, subject="bob")
        nowhere = session.api.call("POST", f"/sessions/{SESSION_ID}{path}", body, subject="bob")
        assert (there.status, there.text) == (404, nowhere.text)
    assert session.call("GET", "/recovery", subject="bob").status == 404


def test_ids_that_look_like_parts_of_a_key_stay_apart(session: Session) -> None:
    for call_id in ("a", "a#b", "a%23b"):
        session.begin(call_id, input=call_id)
    for call_id, path in (("a", "a"), ("a#b", "a%23b"), ("a%23b", "a%2523b")):
        assert session.call("GET", f"/tool-calls/{path}").json["input"] == call_id
