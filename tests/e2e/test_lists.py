"""Lists: whole by cursor, each item once, and cursors that lead nowhere but on."""

import base64
import json
from typing import Any

import pytest

from tests.support.calls import (
    Acting,
    append,
    assert_problem,
    create,
    create_in,
    ids,
    items,
    move,
    new_subject,
    pages,
    tool_call,
)
from tests.support.emulator import LiveStack

NO_LIMITS = ["0", "101", "-1", "abc", "1.5", "", "%201", "1e1", "0x10", "%D9%A3", "9" * 400]
STATUSES = ["initializing", "active", "closing", "closed"]


def filled(api: Acting) -> str:
    """A session with several of everything that is listed."""
    session_id: str = create(api)["sessionId"]
    append(api, session_id, *range(5))
    for number in range(5):
        answer = api.call("PUT", f"/sessions/{session_id}/tool-calls/c{number}", tool_call())
        assert answer.status == 201
    return session_id


def lists(session_id: str) -> list[str]:
    path = f"/sessions/{session_id}"
    return ["/sessions", "/ops/expiring", f"{path}/context", f"{path}/tool-calls", f"{path}/history"]


def cursor_of(api: Acting, path: str) -> str:
    answer = api.call("GET", f"{path}{'&' if '?' in path else '?'}limit=2")
    assert answer.status == 200
    cursor: str = answer.json["nextCursor"]
    assert cursor
    return cursor


def changed(cursor: str, position: int, value: object) -> str:
    """The cursor with another value in its envelope of fingerprint and position."""
    envelope = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    envelope[position] = value
    return base64.urlsafe_b64encode(json.dumps(envelope).encode()).decode().rstrip("=")


@pytest.mark.parametrize("limit", NO_LIMITS)
def test_a_limit_out_of_range_is_refused(api: Acting, limit: str) -> None:
    for path in lists(create(api)["sessionId"]):
        answer = api.call("GET", f"{path}?limit={limit}")
        assert_problem(answer, 400, "invalid-request", {"path": "query limit"})


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_every_list_is_whole_at_every_limit(api: Acting, limit: int) -> None:
    session_id = filled(api)
    for path, count in zip(lists(session_id)[2:], (5, 5, 5), strict=True):
        read = list(pages(api, f"{path}?limit={limit}"))
        found = [item for page in read for item in page.json["items"]]
        assert len(found) == count
        assert found == items(api, path)
        assert all(len(page.json["items"]) <= limit for page in read)


@pytest.mark.parametrize(
    "query", ["x=1", "Limit=1", "limit=1&foo=", "status=active", "order=asc", "withinSeconds=5"]
)
def test_an_unknown_query_parameter_is_refused(api: Acting, query: str) -> None:
    path = f"/sessions/{create(api)['sessionId']}"
    for target in (path, f"{path}/tool-calls", f"{path}/history"):
        assert_problem(api.call("GET", f"{target}?{query}"), 400, "invalid-request")
    assert_problem(api.call("POST", f"{path}/touch?{query}"), 400, "invalid-request")


@pytest.mark.parametrize("query", ["limit=1&limit=2", "limit=2&limit=2", "status=active&status=closed"])
def test_a_query_parameter_that_stands_twice_is_refused(api: Acting, query: str) -> None:
    assert_problem(api.call("GET", f"/sessions?{query}"), 400, "invalid-request")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/sessions?status=open", "status"),
        ("/sessions?status=", "status"),
        ("/ops/expiring?status=Active", "status"),
        ("/ops/expiring?withinSeconds=0", "withinSeconds"),
        ("/ops/expiring?withinSeconds=7776001", "withinSeconds"),
        ("/ops/expiring?withinSeconds=900.0", "withinSeconds"),
        ("/sessions/@/context?order=up", "order"),
        ("/sessions/@/context?order=ASC", "order"),
    ],
)
def test_a_query_value_of_no_known_kind_is_refused(api: Acting, path: str, name: str) -> None:
    session_id = create(api)["sessionId"]
    answer = api.call("GET", path.replace("@", session_id))
    assert_problem(answer, 400, "invalid-request", {"path": f"query {name}"})


def test_a_status_lists_only_its_sessions_newest_first(api: Acting) -> None:
    made = {status: [create_in(api, status) for _ in range(3)] for status in STATUSES}
    for status, sessions in made.items():
        for limit in (1, 2, 100):
            assert ids(api, f"/sessions?status={status}&limit={limit}") == sessions[::-1]
    newest_first = [session_id for sessions in made.values() for session_id in sessions][::-1]
    assert ids(api, "/sessions?limit=5") == newest_first
    move(api, made["active"][1], "closing")
    assert made["active"][1] not in ids(api, "/sessions?status=active")
    assert made["active"][1] in ids(api, "/sessions?status=closing")


def test_a_listed_session_is_without_its_state(api: Acting) -> None:
    session = create(api, {"state": {"a": 1}, "protocol": {"b": 2}})
    (listed,) = items(api, "/sessions")
    left_out = {"state", "protocol", "version", "updatedAt"}
    assert listed == {name: value for name, value in session.items() if name not in left_out}


@pytest.mark.parametrize(
    "cursor", ["", "x", "abc", "%20", "e30", "W10", "bnVsbA", "A" * 5000, "%00", "..%2F"]
)
def test_what_is_no_cursor_is_refused(api: Acting, cursor: str) -> None:
    for path in lists(filled(api)):
        answer = api.call("GET", f"{path}?cursor={cursor}")
        assert_problem(answer, 400, "invalid-request", {"path": "query cursor"})


@pytest.mark.parametrize(
    "position",
    [
        None,
        1,
        "x",
        {},
        [],
        {"message_id": "metadata"},
        {"message_id": "0"},
        {"created_at": -1, "session_id": "x"},
    ],
    ids=repr,
)
def test_a_cursor_with_another_position_is_refused(api: Acting, position: Any) -> None:
    session_id = filled(api)
    create(api)
    create(api)
    for path in lists(session_id):
        if path == "/ops/expiring":
            continue
        cursor = changed(cursor_of(api, path), 1, position)
        answer = api.call("GET", f"{path}?cursor={cursor}")
        assert_problem(answer, 400, "invalid-request", {"path": "query cursor"})


def test_a_cursor_of_another_query_is_refused(api: Acting) -> None:
    session_id, other = filled(api), filled(api)
    create(api)
    path, elsewhere = f"/sessions/{session_id}", f"/sessions/{other}"
    for source, target in (
        ("/sessions", "/sessions?status=initializing"),
        ("/sessions?status=initializing", "/sessions"),
        (f"{path}/context", f"{path}/context?order=desc"),
        (f"{path}/context", f"{elsewhere}/context"),
        (f"{path}/tool-calls", f"{elsewhere}/tool-calls"),
        (f"{path}/tool-calls", f"{path}/history"),
        (f"{path}/context", f"{path}/tool-calls"),
        ("/sessions", "/ops/expiring"),
        ("/sessions", f"{path}/context"),
    ):
        cursor = cursor_of(api, source)
        answer = api.call("GET", f"{target}{'&' if '?' in target else '?'}cursor={cursor}")
        assert_problem(answer, 400, "invalid-request", {"path": "query cursor"})


def test_a_cursor_in_other_hands_reads_nothing_but_the_holders_own(deployed: LiveStack, api: Acting) -> None:
    for holder in (
        Acting(deployed.api("tenant-b"), api.subject),
        Acting(deployed.api("tenant-a"), new_subject()),
    ):
        own = [create(holder)["sessionId"] for _ in range(2)]
        theirs = [create(api)["sessionId"] for _ in range(3)]
        answer = holder.call("GET", f"/sessions?cursor={cursor_of(api, '/sessions')}")
        assert answer.status == 200
        found = [item["sessionId"] for item in answer.json["items"]]
        assert found == own[::-1]
        assert not set(found) & set(theirs)


def test_a_cursor_outlives_the_session_it_stands_on(api: Acting) -> None:
    made = [create(api)["sessionId"] for _ in range(5)]
    cursor = cursor_of(api, "/sessions")
    assert api.call("DELETE", f"/sessions/{made[3]}").status == 204
    assert ids(api, f"/sessions?cursor={cursor}") == made[2::-1]
