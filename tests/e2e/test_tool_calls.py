"""Recorded tool calls: one record a call id, whatever is sent again, and whenever."""

import time
from typing import Any
from urllib.parse import quote

import pytest

from local.signed_http import Answer
from session_store.schema import Attribute, Entity
from tests.support.calls import (
    Acting,
    assert_problem,
    create,
    create_in,
    items,
    move,
    new_subject,
    read,
    tool_call,
)
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable

SHARED = "call-of-thirty-six-characters-000000"
CALL_IDS = ["a", "a#b", "a%23b", "a%2523b", "#", "%", "a:b@c", "a+b", "a&b=c", "~", "..."]


def record(api: Acting, session_id: str, call_id: str, **changes: object) -> Answer:
    path = f"/sessions/{session_id}/tool-calls/{quote(call_id, safe='')}"
    return api.call("PUT", path, tool_call(**changes))


def get(api: Acting, session_id: str, call_id: str) -> Answer:
    return api.call("GET", f"/sessions/{session_id}/tool-calls/{quote(call_id, safe='')}")


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return sorted(item[Attribute.ENTITY]["S"] for item in found)


def test_a_recorded_call_is_read_alone_and_in_both_lists(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    started = "2026-11-30T08:30:00.123Z"
    answer = record(api, session_id, "c1", startedAt=started)
    expected = {
        "toolCallId": "c1",
        "toolName": "search",
        "status": "completed",
        "input": {"q": "x"},
        "output": {"hits": 3},
        "error": None,
        "startedAt": started,
        "completedAt": "2026-11-30T08:30:00.135Z",
        "durationMs": 12,
        "leaseUntil": None,
    }
    assert answer.status == 201
    assert {name: answer.json[name] for name in expected} == expected
    assert answer.json["fence"] > 0
    assert get(api, session_id, "c1").json == answer.json
    assert items(api, f"/sessions/{session_id}/tool-calls") == [answer.json]
    history = api.call("GET", f"/sessions/{session_id}/history").json
    assert history == {"session": read(api, session_id), "items": [answer.json], "nextCursor": None}


def test_a_call_with_an_error_has_failed(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    answer = record(api, session_id, "c1", output=None, error={"code": -32000})
    assert (answer.status, answer.json["status"], answer.json["error"]) == (201, "failed", {"code": -32000})


def test_claim_record_and_audit_event_are_written_together(
    api: Acting, raw: RawTable, raw_audit: RawTable
) -> None:
    session_id = create(api)["sessionId"]
    before = raw.metadata(session_id)
    assert record(api, session_id, "c1").status == 201
    assert kinds(raw.partition(session_id)) == sorted([Entity.SESSION, Entity.TOOL_CLAIM, Entity.TOOL_RECORD])
    assert raw.metadata(session_id) == before
    (event,) = raw_audit.partition(session_id)
    assert event[Attribute.EVENT_NAME] == {"S": "ToolCallRecorded"}
    assert event[Attribute.ACTOR] == {"S": f"000000000000:user/tenant-a {api.subject}"}


def test_the_same_call_again_is_a_success_and_no_second_record(
    api: Acting, raw: RawTable, raw_audit: RawTable
) -> None:
    session_id = create(api)["sessionId"]
    path = f"/sessions/{session_id}/tool-calls/c1"
    first = api.call("PUT", path, b'{"toolName":"t","input":{"a":1,"b":2.50},"durationMs":5}')
    before = raw.partition(session_id)
    again = api.call("PUT", path, b'{ "durationMs" : 5, "input": {"b": 2.5,\n"a": 1.0}, "toolName": "t" }')
    assert (first.status, again.status) == (201, 200)
    assert again.body == first.body
    assert raw.partition(session_id) == before
    assert len(raw_audit.partition(session_id)) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"input": {"q": "y"}},
        {"input": None},
        {"toolName": "other"},
        {"output": {"hits": 4}},
        {"output": None, "error": "broken"},
        {"durationMs": 13},
    ],
)
def test_another_call_under_the_same_id_is_a_mismatch(
    api: Acting, raw: RawTable, changes: dict[str, object]
) -> None:
    session_id = create(api)["sessionId"]
    first = record(api, session_id, "c1")
    before = raw.partition(session_id)
    assert_problem(record(api, session_id, "c1", **changes), 422, "idempotency-mismatch")
    assert raw.partition(session_id) == before
    assert get(api, session_id, "c1").json == first.json


@pytest.mark.parametrize("end", ["closing", "closed", "deleted", "expired"])
def test_a_settled_call_answers_its_replay_after_the_end(api: Acting, raw: RawTable, end: str) -> None:
    session_id = create_in(api, "active")
    first = record(api, session_id, "c1")
    if end in ("closing", "closed"):
        move(api, session_id, "closing")
        move(api, session_id, end)
    elif end == "deleted":
        assert api.call("DELETE", f"/sessions/{session_id}").status == 204
    else:
        raw.end_at(session_id, int(time.time()) - 1)
    before = raw.partition(session_id)
    again = record(api, session_id, "c1")
    assert (again.status, again.body) == (200, first.body)
    other, new = record(api, session_id, "c1", input="other"), record(api, session_id, "c2")
    if end in ("closing", "closed"):
        assert_problem(other, 422, "idempotency-mismatch")
        assert_problem(new, 409, "session-closed")
    else:
        assert_problem(other, 404, "session-not-found")
        assert_problem(new, 404, "session-not-found")
    assert raw.partition(session_id) == before


@pytest.mark.parametrize("end", ["alive", "closed", "deleted", "expired"])
def test_a_settled_call_answers_nobody_but_its_owner(
    deployed: LiveStack, api: Acting, raw: RawTable, end: str
) -> None:
    session_id = create_in(api, "active")
    assert record(api, session_id, "c1").status == 201
    if end == "closed":
        move(api, session_id, "closing")
        move(api, session_id, end)
    elif end == "deleted":
        assert api.call("DELETE", f"/sessions/{session_id}").status == 204
    elif end == "expired":
        raw.end_at(session_id, int(time.time()) - 1)
    before = raw.partition(session_id)
    for other in (
        Acting(deployed.api("tenant-a"), new_subject()),
        Acting(deployed.api("tenant-b"), api.subject),
    ):
        assert_problem(record(other, session_id, "c1"), 404, "session-not-found")
        assert_problem(record(other, session_id, "c1", input="other"), 404, "session-not-found")
    assert raw.partition(session_id) == before


def test_call_ids_that_look_alike_stay_distinct(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    for number, call_id in enumerate(CALL_IDS):
        answer = record(api, session_id, call_id, input=number)
        assert (answer.status, answer.json["toolCallId"], answer.json["input"]) == (201, call_id, number)
    for number, call_id in enumerate(CALL_IDS):
        answer = get(api, session_id, call_id)
        assert (answer.status, answer.json["toolCallId"], answer.json["input"]) == (200, call_id, number)
    listed = items(api, f"/sessions/{session_id}/tool-calls?limit=3")
    assert sorted(item["toolCallId"] for item in listed) == sorted(CALL_IDS)


def test_long_call_ids_are_accepted_and_told_apart(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    call_ids = [f"{SHARED}{'x' * length}" for length in (5, 47, 164, 220)] + [f"{SHARED}{'y' * 47}"]
    assert [len(call_id) for call_id in call_ids] == [41, 83, 200, 256, 83]
    for number, call_id in enumerate(call_ids):
        assert record(api, session_id, call_id, input=number).status == 201
    for number, call_id in enumerate(call_ids):
        assert get(api, session_id, call_id).json["input"] == number


def test_calls_are_listed_in_time_order_by_cursor(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    minutes = [5, 1, 4, 2, 3, 3]
    for number, minute in enumerate(minutes):
        started = f"2026-11-30T10:0{minute}:00+02:00"
        assert record(api, session_id, f"c{number}", startedAt=started).status == 201
    for path in ("tool-calls", "history"):
        listed = items(api, f"/sessions/{session_id}/{path}?limit=2")
        assert [item["toolCallId"] for item in listed] == ["c1", "c3", "c4", "c5", "c2", "c0"]
    assert listed[0]["startedAt"] == "2026-11-30T08:01:00.000Z"


def test_an_unknown_call_of_a_known_session_is_not_found(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    assert record(api, session_id, "c1").status == 201
    for call_id in ("c", "c2", "C1", "c1x"):
        assert_problem(get(api, session_id, call_id), 404, "not-found")
