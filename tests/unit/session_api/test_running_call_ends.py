"""Tool calls ended over the API, and what is written in the same transaction."""

from typing import Any

import pytest

from session_store.domain.identifiers import MessageIds
from session_store.metric_names import Metric
from tests.support.api import StoreApi
from tests.support.samples import DAY, NOW_SECONDS
from tests.support.session_calls import Session


@pytest.mark.parametrize("ended", ["", "closing", "closed", "expired", "deleted"])
def test_the_same_outcome_again_is_a_success_whatever_the_session_is_by_then(
    session: Session, ended: str
) -> None:
    fence = session.fence()
    first = session.complete(fence)
    if ended == "expired":
        session.clock.pass_(2 * 3600)
    elif ended == "deleted":
        session.call("DELETE", "")
    elif ended:
        session.move(*["closing", "closed"][: 1 if ended == "closing" else 2])
    session.api.counts()
    again = session.complete(fence)
    assert again.status == 200
    same = {"toolCallId", "output", "fence", "completedAt"}
    assert {name: again.json[name] for name in same} == {name: first.json[name] for name in same}
    assert (again.json["session"] is None) == (ended in ("expired", "deleted"))
    assert session.api.counts() == {Metric.SERVED: 1, Metric.REPLAYS: 1}
    other = session.complete(fence, output="other")
    assert other.status == (404 if ended in ("expired", "deleted") else 422)


@pytest.mark.parametrize("status", ["closing", "closed"])
def test_a_call_that_leaves_its_session_alone_may_end_while_it_is_closing(
    session: Session, status: str
) -> None:
    fence, failing = session.fence(), session.fence("c2")
    session.move(*["closing", "closed"][: 1 if status == "closing" else 2])
    assert session.begin("c3").slug == "session-closed"
    assert session.end("heartbeat", fence, leaseSeconds=90).status == 200
    assert session.complete(fence, state={"set": {"a": 1}}).slug == "session-closed"
    assert session.complete(fence, messages=[{"content": "late"}]).slug == "session-closed"
    version = session.read()["version"]
    assert session.complete(fence).status == 200
    assert session.end("fail", failing, "c2", error="no").json["status"] == "failed"
    assert session.read()["version"] == version


def test_the_session_changes_in_the_transaction_of_the_completion(session: Session) -> None:
    fence = session.fence()
    version = session.read()["version"]
    done = session.complete(
        fence,
        state={"set": {"a": 0.1}, "increment": {"n": 2}},
        messages=[{"content": "one"}, {"content": "two"}],
        status={"to": "closing"},
        expectedVersion=version,
    )
    assert done.status == 200, done
    there = session.read()
    assert (there["state"], there["status"], there["version"]) == ({"a": 0.1, "n": 2}, "closing", version + 1)
    assert done.json["session"] == {"version": version + 1, "ttl": there["ttl"]}
    contents = [item["content"] for item in session.call("GET", "/context").json["items"]]
    assert contents == ["one", "two"]


def test_a_call_that_closes_its_session_can_be_replayed_afterwards(session: Session) -> None:
    fence = session.fence()
    session.move("closing")
    ends: dict[str, Any] = {"status": {"to": "closed"}}
    assert session.complete(fence, **ends).status == 200
    assert session.read()["ttl"] == NOW_SECONDS + DAY
    assert session.complete(fence, **ends).json["status"] == "completed"


@pytest.mark.parametrize(
    ("change", "status", "slug"),
    [
        ({"expectedVersion": 1}, 409, "version-conflict"),
        ({"expectedVersion": 1, "state": {"set": {"a": 1}}}, 409, "version-conflict"),
        ({"state": {"increment": {"text": 1}}}, 400, "invalid-request"),
        ({"state": {"set": {}}}, 400, "invalid-request"),
        ({"status": {"to": "closed"}}, 409, "invalid-transition"),
        ({"tasks": [{"queue": "q"}]}, 400, "invalid-request"),
        ({"messages": [{"content": 1, "messageId": "nope"}]}, 400, "invalid-request"),
        ({"durationMs": -1}, 400, "invalid-request"),
    ],
)
def test_a_completion_that_is_refused_does_nothing(
    session: Session, change: dict[str, Any], status: int, slug: str
) -> None:
    session.call("PATCH", "/state", {"set": {"text": "t"}})
    fence = session.fence()
    before = session.read()
    refused = session.complete(fence, **change)
    assert (refused.status, refused.slug) == (status, slug), refused
    assert session.read() == before
    assert session.call("GET", "/tool-calls/c1").json["status"] == "in_progress"
    assert session.complete(fence).status == 200


@pytest.mark.parametrize(
    ("state", "path"),
    [
        ({"increment": {"text": 1}}, "$.state.increment.text"),
        ({"set": {"a": 1}, "remove": ["a"]}, "$.state.remove.a"),
        ({"append": {"a": 1}}, "$.state.append.a"),
    ],
)
def test_an_invalid_completion_is_refused_with_its_path(
    session: Session, state: dict[str, Any], path: str
) -> None:
    session.call("PATCH", "/state", {"set": {"text": "t"}})
    assert session.complete(session.fence(), state=state).json["path"] == path


def test_messages_of_a_completion_are_validated_like_any_others(session: Session) -> None:
    minter = MessageIds(random_bytes=lambda length: b"r" * length)
    there, old = minter.mint(session.clock.now_ms()), minter.mint(session.clock.now_ms() + 600_000)
    session.call("POST", "/context", {"messages": [{"content": "there", "messageId": there}]})
    fence = session.fence()
    other = session.complete(fence, messages=[{"content": "other", "messageId": there}])
    assert other.slug == "content-conflict"
    assert session.complete(fence, messages=[{"content": "x", "messageId": old}]).status == 400
    both = [{"content": "there", "messageId": there}, {"content": "new"}]
    assert session.complete(fence, messages=both).status == 200
    contents = [item["content"] for item in session.call("GET", "/context").json["items"]]
    assert sorted(contents) == ["new", "there"]


def test_a_failed_call_is_recorded_too(session: Session) -> None:
    fence = session.fence()
    failed = session.end("fail", fence, error={"code": 7}, durationMs=12)
    assert (failed.json["status"], failed.json["error"], failed.json["durationMs"]) == (
        "failed",
        {"code": 7},
        12,
    )
    assert session.end("fail", fence, error={"code": 7}, durationMs=12).status == 200
    assert session.complete(fence).status == 422
    assert session.begin().json["error"] == {"code": 7}
    assert [item["status"] for item in session.call("GET", "/tool-calls").json["items"]] == ["failed"]


def test_messages_of_a_completion_are_counted(session: Session) -> None:
    fence = session.fence()
    session.api.counts()
    session.complete(fence, messages=[{"content": 1}, {"content": 2}])
    assert session.api.counts() == {Metric.SERVED: 1, Metric.TOOL_CALLS: 1, Metric.MESSAGES_APPENDED: 2}


def test_a_call_cannot_be_ended_outside_the_home_region(session: Session) -> None:
    fence = session.fence()
    session.complete(fence)
    abroad = StoreApi(session.api.world.seen_from("eu-west-1"))
    body = {"fence": fence, "output": {"ok": True}}
    answer = abroad.call("POST", f"/sessions/{session.id}/tool-calls/c1/complete", body)
    assert (answer.status, answer.slug) == (421, "misdirected")
