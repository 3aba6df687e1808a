"""What a body may be: JSON that can be kept and given back equal, and nothing passed over in silence."""

from typing import Any

import pytest

from tests.support.calls import Acting, assert_problem, create, ids, read
from tests.support.raw_table import RawTable

MIB = 1024 * 1024
NOT_JSON = {
    "empty": b"",
    "white space": b" \n\t ",
    "cut short": b'{"state":{"a":1',
    "two documents": b"{}{}",
    "single quotes": b"{'state':{}}",
    "trailing comma": b'{"state":{},}',
    "a bare word": b"state",
    "a control character": b'{"state":{"a":"\x01"}}',
}
NO_OBJECT = {
    "array": b"[]",
    "array of one": b"[{}]",
    "text": b'"{}"',
    "number": b"1",
    "true": b"true",
    "null": b"null",
}
NO_NUMBER = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e1000000"]
EVERY: dict[str, Any] = {
    "status": "ünï",
    "empty": "",
    "none": None,
    "list": [],
    "map": {},
    "nul": "\x00",
    "emoji": "\U0001f600",
}


def nested(levels: int) -> str:
    """A value of so many levels of lists and maps."""
    return '{"a":[' * (levels // 2) + ("[]" if levels % 2 else "1") + "]}" * (levels // 2)


def bodies(path: str, value: str) -> list[tuple[str, str, str]]:
    """Every way that a value takes into a session: method, path, body."""
    return [
        ("POST", "/sessions", f'{{"state":{{"v":{value}}}}}'),
        ("POST", "/sessions", f'{{"protocol":{{"v":{value}}}}}'),
        ("PUT", f"{path}/state", f'{{"v":{value}}}'),
        ("PATCH", f"{path}/state", f'{{"set":{{"v":{value}}}}}'),
        ("PATCH", f"{path}/state", f'{{"append":{{"v":[{value}]}}}}'),
        ("POST", f"{path}/context", f'{{"messages":[{{"content":{value}}}]}}'),
        ("PUT", f"{path}/tool-calls/c", f'{{"toolName":"t","input":{value},"durationMs":1}}'),
        ("PUT", f"{path}/tool-calls/c", f'{{"toolName":"t","input":1,"output":{value},"durationMs":1}}'),
        ("PUT", f"{path}/tool-calls/c", f'{{"toolName":"t","input":1,"error":{value},"durationMs":1}}'),
    ]


def assert_refused(api: Acting, raw: RawTable, value: str) -> list[str]:
    """No way into a session takes the value, each says where it stood; the paths."""
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    listed = ids(api, "/sessions")
    paths = []
    for method, path, body in bodies(f"/sessions/{session_id}", value):
        answer = api.call(method, path, body.encode(), {"If-Match": "*"})
        paths.append(assert_problem(answer, 400, "invalid-request")["path"])
    assert raw.partition(session_id) == before
    assert ids(api, "/sessions") == listed
    return paths


@pytest.mark.parametrize("body", [*NOT_JSON.values(), *NO_OBJECT.values()], ids=[*NOT_JSON, *NO_OBJECT])
def test_a_body_that_is_no_json_object_is_refused(api: Acting, raw: RawTable, body: bytes) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    path = f"/sessions/{session_id}"
    for method, target in (
        ("POST", "/sessions"),
        ("PUT", f"{path}/state"),
        ("PATCH", f"{path}/state"),
        ("POST", f"{path}/status"),
        ("POST", f"{path}/context"),
        ("PUT", f"{path}/tool-calls/c"),
    ):
        assert_problem(api.call(method, target, body, {"If-Match": "*"}), 400, "invalid-request")
    assert raw.partition(session_id) == before
    assert ids(api, "/sessions") == [session_id]


def test_a_missing_body_is_refused(api: Acting) -> None:
    assert_problem(api.call("POST", "/sessions"), 400, "invalid-request")
    assert ids(api, "/sessions") == []


@pytest.mark.parametrize("number", NO_NUMBER)
def test_what_is_no_finite_number_is_refused_and_nothing_written(
    api: Acting, raw: RawTable, number: str
) -> None:
    paths = assert_refused(api, raw, number)
    assert paths[:4] == ["$.state.v", "$.protocol.v", "$.v", "$.set.v"]


def test_a_lone_surrogate_is_refused(api: Acting, raw: RawTable) -> None:
    paths = assert_refused(api, raw, r'"a\ud800b"')
    assert paths[4:6] == ["$.append.v[0]", "$.messages[0].content"]
    assert_refused(api, raw, r'{"\udfff":1}')


def test_a_key_that_stands_twice_is_refused(api: Acting, raw: RawTable) -> None:
    assert_refused(api, raw, '{"a":1,"a":2}')
    for body in (b'{"state":{},"state":{"a":1}}', b'{"idleTimeout":60,"idleTimeout":70}'):
        assert_problem(api.call("POST", "/sessions", body), 400, "invalid-request")


def test_32_levels_are_too_deep(api: Acting, raw: RawTable) -> None:
    for path in assert_refused(api, raw, nested(32)):
        assert path.startswith("$.")


def test_thousands_of_levels_are_refused_as_calmly(api: Acting, raw: RawTable) -> None:
    assert_refused(api, raw, "[" * 100_000 + "]" * 100_000)


def test_31_levels_come_back(api: Acting) -> None:
    state = f'{{"v":{nested(30)}}}'
    created = api.call("POST", "/sessions", f'{{"state":{state}}}'.encode())
    assert created.status == 201
    path = f"/sessions/{created.json['sessionId']}"
    for method, target, body in bodies(path, nested(30))[:4] + bodies(path, nested(31))[5:7]:
        answer = api.call(method, target, body.encode(), {"If-Match": "*"})
        assert answer.status in {200, 201}, (method, target, answer.body)
    assert state in api.call("GET", path).body.decode()
    assert nested(31) in api.call("GET", f"{path}/context").body.decode()


def test_unicode_the_empty_and_null_are_kept(api: Acting) -> None:
    session_id = create(api, {"state": EVERY, "protocol": EVERY})["sessionId"]
    session = read(api, session_id)
    assert session["state"] == EVERY
    assert session["protocol"] == EVERY
    assert list(session["state"]) == list(EVERY)


def test_an_empty_key_of_a_stored_map_is_refused(api: Acting) -> None:
    for body in ({"state": {"": 1}}, {"state": {"a": [{"": 1}]}}, {"protocol": {"": 1}}):
        assert_problem(api.call("POST", "/sessions", body), 400, "invalid-request")


def test_a_body_of_one_byte_over_1_mb_is_refused(api: Acting, raw: RawTable) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    path = f"/sessions/{session_id}"
    for method, target, start in (
        ("POST", "/sessions", b"{}"),
        ("PATCH", f"{path}/state", b'{"set":{"a":1}}'),
        ("POST", f"{path}/context", b'{"messages":[{"content":1}]}'),
    ):
        answer = api.call(method, target, start.ljust(MIB + 1))
        assert_problem(answer, 413, "payload-too-large", {"limit": MIB, "size": MIB + 1})
    assert raw.partition(session_id) == before


def test_a_body_of_1_mb_is_welcome(api: Acting) -> None:
    assert api.call("POST", "/sessions", b"{}".ljust(MIB)).status == 201


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/sessions", {"ttl": 60}),
        ("POST", "/sessions", {"idletimeout": 60}),
        ("POST", "/sessions", {"sessionId": "mine"}),
        ("PATCH", "/state", {"set": {"a": 1}, "add": {"b": 1}}),
        ("POST", "/status", {"to": "active", "force": True}),
        ("POST", "/context", {"messages": [{"content": 1}], "Atomic": True}),
        ("PUT", "/tool-calls/c", {"toolName": "t", "input": 1, "durationMs": 1, "status": "failed"}),
    ],
)
def test_an_unknown_field_is_refused(
    api: Acting, raw: RawTable, method: str, path: str, body: dict[str, object]
) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    target = path if path == "/sessions" else f"/sessions/{session_id}{path}"
    assert_problem(api.call(method, target, body), 400, "invalid-request")
    assert raw.partition(session_id) == before
    assert ids(api, "/sessions") == [session_id]
