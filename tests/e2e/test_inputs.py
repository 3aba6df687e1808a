"""Durations, ids and paths: what is in range and of the right form, and nothing that only looks like it."""

from typing import Any
from urllib.parse import quote

import pytest

from session_store.schema import Attribute, Entity
from tests.support.calls import (
    Acting,
    append,
    assert_problem,
    create,
    create_in,
    ids,
    move,
    read,
    tool_call,
)
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable

NO_DURATIONS: list[Any] = [
    1893456000000,
    "3600",
    3600.5,
    True,
    False,
    -1,
    0,
    "2027-01-01T00:00:00Z",
    None,
    [],
    {},
    [3600],
    10**30,
]
"""No whole seconds in any range."""

ANY_IDS = ["", " ", "a b", "ünï", "a\tb", "a\x00b", "a\nb", "\x7f", ".", "..", "x" * 257]
BAD_SESSION_IDS = {
    "white space before": "%20s1",
    "white space after": "s1%20",
    "two": "s1%2Cs1",
    "two, plain": "s1,s1",
    "NUL": "%00",
    "NUL at the end": "s1%00",
    "2,049 bytes": "a" * 2049,
    "hash": "s1%23metadata",
    "percent": "s1%2523",
    "dot": ".",
    "star": "*",
    "plus": "+s1",
    "unicode": "%C3%BC",
    "short": "s1",
    "upper case": f"USE1-{'A' * 32}",
    "another alphabet": f"use1-{'1' * 32}",
}


@pytest.mark.parametrize("duration", [*NO_DURATIONS, 9, 604_801], ids=repr)
def test_what_is_no_idle_timeout_is_refused(api: Acting, duration: object) -> None:
    answer = api.call("POST", "/sessions", {"idleTimeout": duration})
    assert_problem(answer, 400, "invalid-request", {"path": "$.idleTimeout"})
    assert ids(api, "/sessions") == []


@pytest.mark.parametrize("duration", [*NO_DURATIONS, 7_776_001], ids=repr)
def test_what_is_no_longest_life_is_refused(api: Acting, duration: object) -> None:
    answer = api.call("POST", "/sessions", {"maxLifetime": duration})
    assert_problem(answer, 400, "invalid-request", {"path": "$.maxLifetime"})
    assert ids(api, "/sessions") == []


@pytest.mark.parametrize(
    "duration", [value for value in NO_DURATIONS if value not in (0, "2027-01-01T00:00:00Z")], ids=repr
)
def test_what_is_no_duration_of_a_call_is_refused(api: Acting, raw: RawTable, duration: object) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    answer = api.call("PUT", f"/sessions/{session_id}/tool-calls/c", tool_call(durationMs=duration))
    assert_problem(answer, 400, "invalid-request", {"path": "$.durationMs"})
    assert raw.partition(session_id) == before


@pytest.mark.parametrize(
    "started", [1796040561, 1796040561000, "1796040561", "yesterday", "2026-11-30", "2026-11-30T08:30:00", ""]
)
def test_a_start_that_is_no_iso_time_with_a_zone_is_refused(api: Acting, started: object) -> None:
    session_id = create(api)["sessionId"]
    answer = api.call("PUT", f"/sessions/{session_id}/tool-calls/c", tool_call(startedAt=started))
    assert_problem(answer, 400, "invalid-request", {"path": "$.startedAt"})


@pytest.mark.parametrize(("idle", "longest"), [(10, 10), (604_800, 7_776_000), (604_800, 10)])
def test_durations_at_the_ends_of_their_ranges_are_welcome(api: Acting, idle: int, longest: int) -> None:
    session = create(api, {"idleTimeout": idle, "maxLifetime": longest})
    assert session["idleTimeout"] == idle
    assert session["expiresAt"] <= session["maxExpiresAt"]


def test_every_item_ends_at_a_whole_number_of_ten_digits(
    api: Acting, raw: RawTable, raw_audit: RawTable
) -> None:
    session_id = create_in(api, "active", idleTimeout=604_800, maxLifetime=7_776_000)
    append(api, session_id, "hello")
    api.call("POST", f"/sessions/{session_id}/checkpoints", {"data": 1, "retainSeconds": 900})
    api.call("PUT", f"/sessions/{session_id}/tool-calls/c1", tool_call())
    api.call("POST", f"/sessions/{session_id}/touch")
    move(api, session_id, "closing")
    stored = [*raw.partition(session_id), *raw_audit.partition(session_id)]
    move(api, session_id, "closed")
    stored += raw.partition(session_id)
    written = {
        Entity.SESSION,
        Entity.MESSAGE,
        Entity.CHECKPOINT,
        Entity.TOOL_CLAIM,
        Entity.TOOL_RECORD,
        Entity.AUDIT_EVENT,
    }
    assert written <= {item[Attribute.ENTITY]["S"] for item in stored}
    for item in stored:
        assert list(item[Attribute.TTL]) == ["N"]
        assert item[Attribute.TTL]["N"].isdecimal()
        assert len(item[Attribute.TTL]["N"]) == 10


@pytest.mark.parametrize("given", BAD_SESSION_IDS.values(), ids=BAD_SESSION_IDS)
def test_what_no_session_id_looks_like_is_refused(api: Acting, given: str) -> None:
    for method, path, body in (
        ("GET", "", None),
        ("GET", "/context", None),
        ("POST", "/touch", None),
        ("PATCH", "/state", {"set": {"a": 1}}),
        ("PUT", "/tool-calls/c", tool_call()),
        ("DELETE", "", None),
    ):
        assert_problem(api.call(method, f"/sessions/{given}{path}", body), 400, "invalid-request")


@pytest.mark.parametrize(
    "around",
    [
        "@%20",
        "%20@",
        "@%23",
        "@%23metadata",
        "@%00",
        "%00@",
        "@%2C",
        "@%0A",
        "@%2523",
        "@x",
        "%09@",
        "@,@",
        "@%2C@",
    ],
)
def test_a_session_id_with_something_added_is_never_that_session(api: Acting, around: str) -> None:
    session_id = create_in(api, "active")
    path = f"/sessions/{around.replace('@', session_id)}"
    assert_problem(api.call("GET", path), 400, "invalid-request")
    assert_problem(api.call("DELETE", path), 400, "invalid-request")
    assert read(api, session_id)["version"] == 2


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/sessions/", None),
        ("DELETE", "/sessions/", None),
        ("POST", "/sessions//touch", None),
        ("GET", "/sessions//context", None),
        ("GET", "/sessions//history", None),
        ("PATCH", "/sessions//state", {"set": {"a": 1}}),
        ("PUT", "/sessions//tool-calls/c", tool_call()),
    ],
)
def test_an_empty_session_id_is_refused(api: Acting, method: str, path: str, body: object) -> None:
    assert_problem(api.call(method, path, body), 400, "invalid-request")


@pytest.mark.parametrize(
    ("method", "ending", "body"),
    [
        ("GET", "/", None),
        ("GET", "//", None),
        ("GET", "/context/", None),
        ("GET", "/tool-calls/", None),
        ("POST", "/touch/", None),
        ("PATCH", "/state/", {"set": {"a": 1}}),
        ("DELETE", "//", None),
    ],
)
def test_an_empty_part_at_the_end_of_a_path_is_refused(
    api: Acting, raw: RawTable, method: str, ending: str, body: object
) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    assert_problem(api.call(method, f"/sessions/{session_id}{ending}", body), 400, "invalid-request")
    assert raw.partition(session_id) == before


@pytest.mark.parametrize(
    "call_id", [given for given in ANY_IDS if given not in ("", ".", "..", "a\nb")], ids=repr
)
def test_what_is_no_call_id_is_refused(api: Acting, raw: RawTable, call_id: str) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    path = f"/sessions/{session_id}/tool-calls/{quote(call_id, safe='')}"
    for answer in (api.call("PUT", path, tool_call()), api.call("GET", path)):
        assert_problem(answer, 400, "invalid-request", {"path": "toolCallId"})
    assert raw.partition(session_id) == before


@pytest.mark.parametrize("name", [*ANY_IDS, "x" * 129, 7, None], ids=repr)
def test_what_is_no_tool_name_is_refused(api: Acting, raw: RawTable, name: object) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    answer = api.call("PUT", f"/sessions/{session_id}/tool-calls/c", tool_call(toolName=name))
    assert_problem(answer, 400, "invalid-request", {"path": "$.toolName"})
    assert raw.partition(session_id) == before


def test_an_unknown_path_is_not_found(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    for path in (
        "/nowhere",
        f"/sessions/{session_id}/nothing",
        f"/sessions/{session_id}/context/x",
        "/v1",
    ):
        assert_problem(api.call("GET", path), 404, "not-found")


def test_the_root_is_not_found(api: Acting) -> None:
    assert_problem(api.call("GET", "/"), 404, "not-found")


def test_a_method_that_a_path_does_not_know_is_not_found(api: Acting) -> None:
    path = f"/sessions/{create(api)['sessionId']}"
    for method, target in (
        ("DELETE", "/sessions"),
        ("PUT", path),
        ("PATCH", path),
        ("DELETE", f"{path}/state"),
        ("POST", f"{path}/tool-calls/c"),
        ("DELETE", f"{path}/context"),
        ("POST", "/health"),
    ):
        assert_problem(api.call(method, target, {}), 404, "not-found")


def test_health_tells_nothing_but_ok(deployed: LiveStack) -> None:
    answer = deployed.api().call("GET", "/health")
    assert (answer.status, answer.json) == (200, {"status": "ok"})
