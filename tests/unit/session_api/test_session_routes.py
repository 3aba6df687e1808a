"""Sessions over HTTP, as in the contract."""

from typing import Any

import pytest

from tests.support.api import InProcessApi
from tests.support.samples import SESSION_ID
from tests.support.world import World


def test_a_created_session_is_returned_in_full(api: InProcessApi) -> None:
    answer = api.call("POST", "/sessions", {"state": {"a": 1}})
    session_id = answer.json["sessionId"]
    assert (answer.status, answer.content_type) == (201, "application/json")
    assert (answer.headers["ETag"], answer.headers["Location"]) == ('"1"', f"sessions/{session_id}")
    assert answer.json == {
        "sessionId": session_id,
        "status": "initializing",
        "version": 1,
        "state": {"a": 1},
        "protocol": {},
        "subject": "alice",
        "createdAt": "2027-01-15T08:00:00.500Z",
        "updatedAt": "2027-01-15T08:00:00.500Z",
        "ttl": 1_800_003_600,
        "expiresAt": "2027-01-15T09:00:00.000Z",
        "maxExpiresAt": "2027-02-14T08:00:00.000Z",
        "idleTimeout": 3600,
        "homeRegion": "us-east-1",
    }


def test_numbers_come_back_exact_through_every_route(api: InProcessApi) -> None:
    numbers = "[0.1,9007199254740993,1e-130,1]"
    created = api.call("POST", "/sessions", f'{{"state":{{"n":{numbers}}}}}')
    path = f"/sessions/{created.json['sessionId']}"
    expected = "[0.1,9007199254740993,1E-130,1]"
    texts = [
        created.text,
        api.call("PATCH", f"{path}/state", f'{{"append":{{"l":{numbers}}}}}').text,
        api.call("POST", f"{path}/context", f'{{"messages":[{{"content":{numbers}}}]}}').text,
        api.call("GET", f"{path}/context").text,
        api.call("PUT", f"{path}/tool-calls/c", f'{{"toolName":"t","durationMs":1,"input":{numbers}}}').text,
        api.call("GET", f"{path}/history").text,
    ]
    assert [expected in text for text in texts] == [True] * len(texts)


@pytest.mark.parametrize("name", ["If-Match", "if-match", "IF-MATCH"])
def test_a_version_is_matched(api: InProcessApi, name: str) -> None:
    path = f"/sessions/{api.open()}/state"
    assert api.call("PUT", path, {"a": 1}).slug == "precondition-required"
    assert api.call("PUT", path, {"a": 1}, headers={name: '"1"'}).headers["ETag"] == '"2"'
    stale = api.call("PUT", path, {"a": 2}, headers={name: '"1"'})
    assert (stale.status, stale.slug, stale.json["currentVersion"]) == (412, "version-conflict", 2)


@pytest.mark.parametrize(
    ("method", "suffix", "body"),
    [
        ("GET", "", None),
        ("PUT", "/state", {}),
        ("PATCH", "/state", {"set": {"a": 1}}),
        ("POST", "/status", {"to": "closing"}),
        ("POST", "/touch", None),
        ("DELETE", "", None),
        ("POST", "/context", {"messages": [{"content": 1}]}),
        ("GET", "/context", None),
        ("PUT", "/tool-calls/c1", {"toolName": "t", "input": 1, "durationMs": 1}),
        ("GET", "/tool-calls/c1", None),
        ("GET", "/tool-calls", None),
        ("GET", "/history", None),
    ],
)
def test_another_callers_session_is_answered_like_an_unknown_one(
    api: InProcessApi, method: str, suffix: str, body: object
) -> None:
    match = {"If-Match": "*"}
    mine = f"/sessions/{api.open()}"
    theirs = api.call(method, mine + suffix, body, headers=match, subject="bob")
    unknown = api.call(method, f"/sessions/{SESSION_ID}{suffix}", body, headers=match, subject="bob")
    assert (theirs.status, theirs.headers, theirs.text) == (404, unknown.headers, unknown.text)


def test_a_session_closes_step_by_step(api: InProcessApi) -> None:
    path = f"/sessions/{api.open()}/status"
    jump = api.call("POST", path, {"to": "closed"})
    assert (jump.status, jump.slug) == (409, "invalid-transition")
    assert (jump.json["from"], jump.json["to"]) == ("initializing", "closed")
    steps = [api.call("POST", path, {"to": to}) for to in ("active", "active", "closing", "closed")]
    assert [step.json["version"] for step in steps] == [2, 2, 3, 4]
    assert api.call("POST", path, {"to": "initializing"}).slug == "invalid-request"
    late = api.call("PATCH", path.replace("status", "state"), {"set": {"a": 1}})
    assert (late.status, late.slug, late.json["sessionStatus"]) == (409, "session-closed", "closed")


def test_a_deleted_session_is_gone(api: InProcessApi) -> None:
    path = f"/sessions/{api.open()}"
    gone = api.call("DELETE", path)
    assert (gone.status, gone.text) == (204, "")
    assert api.call("DELETE", path).slug == "session-not-found"


def test_a_list_is_followed_by_its_cursor(api: InProcessApi) -> None:
    opened = []
    for _ in range(5):
        opened.append(api.open())
        api.world.clock.pass_(1)
    seen: list[str] = []
    query: dict[str, str] = {"limit": "2"}
    while True:
        page: Any = api.call("GET", "/sessions", query=query).json
        seen += [item["sessionId"] for item in page["items"]]
        assert all("state" not in item for item in page["items"])
        if page["nextCursor"] is None:
            break
        query["cursor"] = page["nextCursor"]
    assert seen == opened[::-1]
    assert api.call("GET", "/sessions", query={**query, "status": "active"}).slug == "invalid-request"


def test_a_replayed_append_is_200_with_the_same_items(api: InProcessApi) -> None:
    path = f"/sessions/{api.open()}/context"
    first = api.call("POST", path, {"messages": [{"content": {"a": 1}}]})
    message_id = first.json["items"][0]["messageId"]
    again = api.call("POST", path, {"messages": [{"content": {"a": 1.0}, "messageId": message_id}]})
    other = api.call("POST", path, {"messages": [{"content": 2, "messageId": message_id}]})
    assert (first.status, again.status, again.json) == (201, 200, first.json)
    assert (other.status, other.slug, other.json["messageIds"]) == (409, "content-conflict", [message_id])


def test_a_replayed_call_is_200_and_another_is_422(api: InProcessApi) -> None:
    path = f"/sessions/{api.open()}/tool-calls/c1"
    body = {"toolName": "t", "input": {"a": 1, "b": 2}, "output": "o", "durationMs": 5}
    first = api.call("PUT", path, body)
    api.world.clock.pass_(1)
    again = api.call("PUT", path, ' {"output":"o", "durationMs":5, "input":{"b":2.0,"a":1}, "toolName":"t"}')
    assert (first.status, again.status, again.json) == (201, 200, first.json)
    assert api.call("PUT", path, {**body, "input": 1}).slug == "idempotency-mismatch"


def test_a_create_under_a_key_is_replayed_with_the_same_response(api: InProcessApi) -> None:
    key = {"idempotency-key": "k"}
    first = api.call("POST", "/sessions", {"state": {"tenth": 0.1, "n": 1}}, headers=key)
    api.world.clock.pass_(7200)
    again = api.call("POST", "/sessions", ' {"state": {"tenth": 0.10, "n": 1.0}}', headers=key)
    assert (again.status, again.text) == (first.status, first.text) == (201, first.text)
    assert again.headers == {**first.headers, "Idempotent-Replayed": "true"}
    other = api.call("POST", "/sessions", {"state": {}}, headers=key)
    assert (other.status, other.slug) == (422, "idempotency-mismatch")


def test_a_change_under_a_key_is_made_once_and_replays_are_marked(api: InProcessApi) -> None:
    path = f"/sessions/{api.open(state={'n': 0})}/state"
    key = {"idempotency-key": "k", "if-match": '"1"'}
    first, again = (api.call("PATCH", path, {"increment": {"n": 1}}, headers=key) for _ in range(2))
    assert (again.status, again.json) == (first.status, first.json) == (200, first.json)
    assert again.headers == {**first.headers, "Idempotent-Replayed": "true"}
    assert (again.json["state"], again.headers["ETag"]) == ({"n": 1}, '"2"')
    other = api.call("PATCH", path, {"increment": {"n": 1}}, headers={"idempotency-key": "k"})
    assert (other.status, other.slug) == (422, "idempotency-mismatch")


def test_a_large_session_is_counted(api: InProcessApi) -> None:
    api.open(state={"a": "x" * 65_000})
    assert api.counted("LargeSession") == 0
    session_id = api.open(state={"a": "x" * 65_400})
    api.counted("LargeSession")
    api.call("GET", f"/sessions/{session_id}")
    assert api.counted("LargeSession") == 1


def test_only_a_delegate_may_send_a_subject(world: World) -> None:
    api = InProcessApi(world, delegates=frozenset())
    assert api.call("POST", "/sessions", {}).slug == "forbidden"
    assert api.call("POST", "/sessions", {}, subject=None).json["subject"] == "-"
