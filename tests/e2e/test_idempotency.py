"""``Idempotency-Key``: a write happens once, however often it is sent, and for one caller."""

import re
import secrets
from decimal import Decimal
from typing import Any

import pytest

from local.signed_http import Answer
from session_store.domain.idempotency_key import key_hash
from session_store.domain.session import Owner
from session_store.schema import CLAIM_SK, Attribute, Entity, claim_pk
from tests.support.calls import (
    Acting,
    assert_problem,
    create,
    create_in,
    exact,
    ids,
    new_subject,
    read,
    tool_call,
)
from tests.support.crowd import at_once
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable

EXACT = b'{"idleTimeout":600,"state":{"tenth":0.1,"big":9007199254740993}}'
REORDERED = b' { "state" : {"big":9007199254740993, "tenth":0.10},\n"idleTimeout":600 } '
KEY = "Idempotency-Key"


def keyed(api: Acting, method: str, path: str, body: object, key: str) -> Answer:
    return api.call(method, path, body, {KEY: key})


def raw_call(api: Acting, method: str, path: str, body: bytes, key: str) -> Answer:
    fields = [("Session-Subject", api.subject), (KEY, key)]
    return api.api.call_with(method, path, fields, body=body)


def replayed(answer: Answer) -> bool:
    return answer.headers.get("idempotent-replayed") == "true"


def test_the_same_session_in_another_spelling_is_the_first_answer_again(api: Acting) -> None:
    key = secrets.token_hex(8)
    first = raw_call(api, "POST", "/sessions", EXACT, key)
    assert (first.status, replayed(first)) == (201, False)
    state = exact(first.body)["state"]
    assert state == {"tenth": Decimal("0.1"), "big": Decimal(9007199254740993)}
    api.call("PATCH", f"/sessions/{first.json['sessionId']}/state", {"set": {"later": 1}})
    again = raw_call(api, "POST", "/sessions", REORDERED, key)
    assert (again.status, replayed(again), exact(again.body)) == (201, True, exact(first.body))
    for header in ("location", "etag"):
        assert again.headers[header] == first.headers[header]
    assert ids(api, "/sessions") == [first.json["sessionId"]]


def test_another_session_under_the_same_key_is_422_and_the_first_stands(api: Acting) -> None:
    key = secrets.token_hex(8)
    first = keyed(api, "POST", "/sessions", {"state": {"a": 1}}, key)
    for body in ({"state": {"a": 2}}, {"state": {"a": 1}, "idleTimeout": 60}, {}):
        assert_problem(keyed(api, "POST", "/sessions", body, key), 422, "idempotency-mismatch")
    assert ids(api, "/sessions") == [first.json["sessionId"]]
    assert read(api, first.json["sessionId"]) == first.json


def test_the_same_change_in_another_spelling_is_done_once(api: Acting) -> None:
    path = f"/sessions/{create(api, {'state': {'n': 0}})['sessionId']}/state"
    key = "one key of many words"
    first = raw_call(api, "PATCH", path, b'{"increment":{"n":0.1},"append":{"l":[{"a":1,"b":2}]}}', key)
    again = raw_call(api, "PATCH", path, b'{"append":{"l":[{"b":2.0,"a":1}]}, "increment":{"n":0.10}}', key)
    assert (first.status, replayed(first)) == (200, False)
    assert (again.status, replayed(again)) == (200, True)
    assert exact(again.body) == exact(first.body)
    assert (again.json["state"], again.headers["etag"]) == ({"n": 0.1, "l": [{"a": 1, "b": 2}]}, '"2"')
    for body in ({"increment": {"n": 0.2}}, {"increment": {"n": 0.1}}):
        assert_problem(keyed(api, "PATCH", path, body, key), 422, "idempotency-mismatch")
    assert read(api, first.json["sessionId"]) == first.json


def test_the_version_is_part_of_what_a_key_was_used_for(api: Acting) -> None:
    path = f"/sessions/{create(api)['sessionId']}/state"
    body = {"set": {"a": 1}}
    first = api.call("PATCH", path, body, {KEY: "k", "If-Match": '"1"'})
    again = api.call("PATCH", path, body, {KEY: "k", "If-Match": '"1"'})
    assert (first.status, again.status, replayed(again), again.json) == (200, 200, True, first.json)
    other = api.call("PATCH", path, body, {KEY: "k", "If-Match": '"2"'})
    assert_problem(other, 422, "idempotency-mismatch")


def test_a_replay_is_answered_after_the_session_was_closed_and_not_after_it_is_gone(api: Acting) -> None:
    session_id = create_in(api, "active")
    path = f"/sessions/{session_id}"
    body = {"increment": {"n": 1}}
    assert keyed(api, "PATCH", f"{path}/state", body, "k").status == 200
    for to in ("closing", "closed"):
        api.call("POST", f"{path}/status", {"to": to})
    again = keyed(api, "PATCH", f"{path}/state", body, "k")
    assert (again.status, again.json["status"], again.json["state"]) == (200, "closed", {"n": 1})
    assert_problem(keyed(api, "PATCH", f"{path}/state", body, "other"), 409, "session-closed")
    api.call("DELETE", path)
    assert_problem(keyed(api, "PATCH", f"{path}/state", body, "k"), 404, "session-not-found")


def test_two_users_of_one_backend_share_no_key(deployed: LiveStack) -> None:
    key, body = secrets.token_hex(8), {"state": {"a": 1}}
    users = [Acting(deployed.api("tenant-a"), new_subject()) for _ in range(2)]
    first, second = (keyed(user, "POST", "/sessions", body, key) for user in users)
    assert (first.status, second.status, replayed(second)) == (201, 201, False)
    assert first.json["sessionId"] != second.json["sessionId"]
    for user, answer in zip(users, (first, second), strict=True):
        assert ids(user, "/sessions") == [answer.json["sessionId"]]
        assert answer.json["subject"] == user.subject


def test_a_missing_key_never_joins_two_requests(api: Acting) -> None:
    made = [create(api, {"state": {"n": 0}}) for _ in range(2)]
    assert made[0]["sessionId"] != made[1]["sessionId"]
    path = f"/sessions/{made[0]['sessionId']}/state"
    for count in (1, 2):
        answer = api.call("PATCH", path, {"increment": {"n": 1}})
        assert (answer.json["state"], replayed(answer)) == ({"n": count}, False)


@pytest.mark.parametrize("key", ["", " ", "k" * 257, "a\tb", "ü"], ids=repr)
def test_what_is_no_key_is_refused_and_nothing_is_done(api: Acting, raw: RawTable, key: str) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    for method, path in (("POST", "/sessions"), ("PATCH", f"/sessions/{session_id}/state")):
        answer = raw_call(api, method, path, b'{"set":{"a":1}}' if method == "PATCH" else b"{}", key)
        assert_problem(answer, 400, "invalid-request", {"path": f"header {KEY}"})
    assert raw.partition(session_id) == before
    assert ids(api, "/sessions") == [session_id]


def test_a_call_that_takes_no_key_refuses_it(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    path = f"/sessions/{session_id}"
    calls: list[tuple[str, str, Any]] = [
        ("GET", path, None),
        ("PUT", f"{path}/state", {"a": 1}),
        ("POST", f"{path}/status", {"to": "active"}),
        ("POST", f"{path}/touch", None),
        ("POST", f"{path}/context", {"messages": [{"content": 1}]}),
        ("PUT", f"{path}/tool-calls/c1", tool_call()),
        ("DELETE", path, None),
    ]
    for method, target, body in calls:
        answer = keyed(api, method, target, body, "k")
        problem = assert_problem(answer, 400, "invalid-request", {"path": f"header {KEY}"})
        assert "Not accepted by this operation" in problem["detail"]
    assert read(api, session_id)["version"] == 1


def test_the_same_requests_at_once_are_one_and_every_one_is_answered(api: Acting) -> None:
    created = at_once(8, lambda _: keyed(api, "POST", "/sessions", {"state": {"n": 0}}, "make"))
    assert {answer.status for answer in created} == {201}
    assert len({answer.body for answer in created}) == 1
    assert sorted(map(replayed, created)) == [False] + [True] * 7
    session_id = created[0].json["sessionId"]
    path = f"/sessions/{session_id}/state"
    added = at_once(
        8, lambda _: api.call("PATCH", path, {"increment": {"n": 1}}, {KEY: "k", "If-Match": '"1"'})
    )
    assert {answer.status for answer in added} == {200}
    assert sorted(map(replayed, added)) == [False] + [True] * 7
    assert (read(api, session_id)["state"], read(api, session_id)["version"]) == ({"n": 1}, 2)


def test_a_claim_keeps_neither_key_nor_body(api: Acting, raw: RawTable) -> None:
    key, marker = f"marker-{secrets.token_hex(8)}", f"body-{secrets.token_hex(8)}"
    made = keyed(api, "POST", "/sessions", {"state": {"m": marker}}, key)
    session = raw.metadata(made.json["sessionId"]) or {}
    owner = Owner(tenant=session[Attribute.TENANT]["S"], subject=api.subject)
    pk = claim_pk(key_hash(owner, route="POST /sessions us-east-1", key=key))
    claim = raw.item(pk, CLAIM_SK) or {}
    assert claim[Attribute.ENTITY] == {"S": Entity.KEY_CLAIM}
    assert re.fullmatch("[0-9]{10}", claim[Attribute.TTL]["N"])
    assert key not in repr(claim)
    assert marker not in repr(claim)
