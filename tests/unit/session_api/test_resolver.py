"""From gateway event to answer, in process."""

import logging
from http import HTTPStatus
from typing import Any

import pytest

from session_api.operations import OPERATIONS
from session_store.errors import ThrottledError
from session_store.storage.memory.messages import MemoryMessages
from session_store.storage.memory.sessions import MemorySessions
from tests.support.api import InProcessApi
from tests.support.gateway import REQUEST_ID
from tests.support.samples import SESSION_ID
from tests.support.world import World

MARKER = "marker-7d1f"
CALL = {"toolName": "t", "input": None, "durationMs": 1000}


def path_of(template: str) -> str:
    return template.replace("{sessionId}", SESSION_ID).replace("{toolCallId}", "c1")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_operation_is_served(api: InProcessApi, operation: Any) -> None:
    answer = api.call(operation.method, path_of(operation.path), {})
    declared = {*operation.statuses, *(problem.status for problem in operation.problems)}
    assert answer.status in {status for status in declared if status < HTTPStatus.INTERNAL_SERVER_ERROR}
    assert f'"operation":"{operation.name}"' in api.log


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_operation_but_health_needs_a_caller(api: InProcessApi, operation: Any) -> None:
    answer = api.call(operation.method, path_of(operation.path), {}, principal=None)
    if operation.name == "get_health":
        assert (answer.status, answer.json) == (200, {"status": "ok"})
    else:
        assert (answer.status, answer.slug) == (401, "unauthenticated")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_a_refusal_of_a_body_over_a_mebibyte_is_declared(api: InProcessApi, operation: Any) -> None:
    """Also where the operation ignores its body."""
    answer = api.call(operation.method, path_of(operation.path), f'{{"a":"{"x" * 1024 * 1024}"}}')
    assert answer.status in {problem.status for problem in operation.problems} | set(operation.statuses)
    assert (answer.status == 413) != operation.anonymous


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_a_version_that_a_write_would_ignore_is_refused(api: InProcessApi, operation: Any) -> None:
    """``*`` holds whatever the version, and a read has nothing to lose."""
    answers = [
        api.call(operation.method, path_of(operation.path), {}, headers={"If-Match": version})
        for version in ('"7"', "*")
    ]
    refused = [answer.json.get("path") == "header If-Match" for answer in answers]
    ignored = not operation.conditional and operation.method != "GET"
    assert refused == [ignored, False]


def test_completing_a_call_names_the_member_that_takes_its_version(api: InProcessApi) -> None:
    path = f"/sessions/{SESSION_ID}/tool-calls"
    headers = {"If-Match": '"7"'}
    completed = api.call("POST", f"{path}/c1/complete", {"fence": 1, "output": 1}, headers=headers)
    assert "use expectedVersion in the body" in completed.json["detail"]
    begun = api.call("POST", path, {"toolCallId": "c1", "toolName": "t", "input": 1}, headers=headers)
    assert (begun.status, begun.slug) == (400, "invalid-request")
    assert "expectedVersion" not in begun.json["detail"]


def break_storage(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    for port, method in ((MemorySessions, "read"), (MemorySessions, "write"), (MemoryMessages, "put")):
        monkeypatch.setattr(port, method, fail)


def test_a_crash_is_a_500_with_the_request_id_and_nothing_else(
    api: InProcessApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = api.open(state={"secret": MARKER})
    api.counted("Refused")
    break_storage(monkeypatch, RuntimeError(f"item {MARKER} is bad"))
    answer = api.call("PATCH", f"/sessions/{session_id}/state", {"set": {"a": MARKER}})
    assert (answer.status, answer.slug) == (500, "internal")
    assert answer.json == {
        "type": "/problems/internal",
        "title": "Internal error",
        "status": 500,
        "detail": "The request failed unexpectedly; the log has the error under the request's id.",
        "instance": REQUEST_ID,
    }
    assert MARKER not in answer.text + api.log
    assert "Traceback" not in answer.text + api.log
    assert '"error":"RuntimeError"' in api.log
    assert "test_resolver.py:" in api.log
    assert api.counted("InternalError") == 1


def test_a_refusal_is_not_an_internal_error(api: InProcessApi) -> None:
    assert api.call("GET", f"/sessions/{SESSION_ID}").slug == "session-not-found"
    assert api.counted("InternalError") == 0


def test_a_throttled_request_says_when_to_retry(api: InProcessApi, monkeypatch: pytest.MonkeyPatch) -> None:
    break_storage(monkeypatch, ThrottledError())
    answer = api.call("GET", f"/sessions/{SESSION_ID}")
    assert (answer.status, answer.slug, answer.headers["Retry-After"]) == (503, "throttled", "1")


def test_no_token_and_no_content_reaches_a_log_line(
    api: InProcessApi, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    token = {"Authorization": f"AWS4-HMAC-SHA256 {MARKER}"}
    session_id = api.open(state={MARKER: MARKER}, protocol={"clientInfo": MARKER})
    path = f"/sessions/{session_id}"
    recorded = {"toolName": "t", "input": MARKER, "output": MARKER, "durationMs": 1}
    answers = [
        api.call("POST", f"{path}/context", {"messages": [{"content": MARKER}]}, headers=token),
        api.call("GET", f"{path}/context", headers=token),
        api.call("PATCH", f"{path}/state", {"set": {MARKER: MARKER}}, headers=token),
        api.call("PATCH", f"{path}/state", {"increment": {MARKER: 1}}, headers=token),
        api.call("PUT", f"{path}/tool-calls/c1", recorded, headers=token),
        api.call("PUT", f"{path}/tool-calls/c1", {**recorded, "input": "x"}, headers=token),
        api.call("POST", "/sessions", {"idleTimeout": MARKER}, headers=token),
        api.call("POST", "/sessions", f"{{{MARKER}", headers=token),
        api.call("GET", "/sessions", query={"cursor": MARKER}, headers=token),
        api.call("GET", f"/{MARKER}", headers=token),
    ]
    assert [answer.status for answer in answers] == [201, 200, 200, 400, 201, 422, 400, 400, 400, 404]
    printed = capsys.readouterr()
    assert api.log.count("\n") == 11
    assert MARKER not in api.log + caplog.text + printed.out + printed.err


@pytest.mark.parametrize("path", ["/nothing", "/sessions/a/nothing", "/Sessions"])
def test_an_unknown_path_is_not_found(api: InProcessApi, path: str) -> None:
    answer = api.call("GET", path)
    assert (answer.status, answer.slug, answer.json["instance"]) == (404, "not-found", REQUEST_ID)


def test_an_unknown_method_is_not_found(api: InProcessApi) -> None:
    assert api.call("DELETE", "/sessions").slug == "not-found"


@pytest.mark.parametrize(
    "path", ["/sessions//context", "/sessions/", "//sessions", f"/sessions/{SESSION_ID}/"]
)
def test_an_empty_segment_of_a_path_is_an_invalid_request(api: InProcessApi, path: str) -> None:
    answer = api.call("GET", path)
    assert (answer.status, answer.slug, answer.json["path"]) == (400, "invalid-request", "path")


@pytest.mark.parametrize(
    "part",
    [
        "%20s1",
        "s1,s1",
        "s1%2Cs1",
        "%00",
        "s1%00",
        "%23",
        "a%2Fb",
        "..",
        "%2E%2E",
        "x" * 2049,
        "%FF",
        "%C3%28",
        "s1%0A",
    ],
)
def test_a_malformed_session_id_is_an_invalid_request(api: InProcessApi, part: str) -> None:
    for method, path in (("GET", ""), ("POST", "/touch"), ("GET", "/context"), ("GET", "/tool-calls")):
        answer = api.call(method, f"/sessions/{part}{path}")
        assert (answer.status, answer.slug) == (400, "invalid-request")


@pytest.mark.parametrize("part", ["a", "a%23b", "a%2523b", "a%2Fb", "%3F", "%22", "x" * 256, "a:b@c;d=e&f+g"])
def test_every_call_id_is_served_and_is_its_own(api: InProcessApi, part: str) -> None:
    path = f"/sessions/{api.open()}/tool-calls"
    body = {"toolName": "t", "input": part, "durationMs": 1}
    assert api.call("PUT", f"{path}/z", {**body, "input": "z"}).status == 201
    assert api.call("PUT", f"{path}/{part}", body).status == 201
    assert api.call("GET", f"{path}/{part}").json["input"] == part


def test_a_path_that_the_gateway_decoded_is_the_same_path(world: World) -> None:
    decoding = InProcessApi(world, gateway_decodes_path=True)
    path = f"/sessions/{decoding.open()}/tool-calls"
    body = {"toolName": "t", "input": None, "durationMs": 1}
    assert decoding.call("PUT", f"{path}/a#b%23c", body).json["toolCallId"] == "a#b%23c"
    assert InProcessApi(world).call("GET", f"{path}/a%23b%2523c").json["toolCallId"] == "a#b%23c"


@pytest.mark.parametrize(
    "began", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z"]
)
def test_a_start_time_out_of_range_is_refused(api: InProcessApi, began: str) -> None:
    path = f"/sessions/{api.open()}/tool-calls"
    answer = api.call("PUT", f"{path}/c1", {**CALL, "startedAt": began})
    assert (answer.status, answer.slug, answer.json["path"]) == (400, "invalid-request", "$.startedAt")
    assert api.call("GET", path).json == {"items": [], "nextCursor": None}


@pytest.mark.parametrize("began", ["yesterday", "2027-01-15", "2027-01-15T08:00:00", "", 1])
def test_a_malformed_time_is_refused(api: InProcessApi, began: object) -> None:
    path = f"/sessions/{api.open()}/tool-calls"
    answer = api.call("PUT", f"{path}/c1", {**CALL, "startedAt": began})
    assert (answer.status, answer.slug, answer.json["path"]) == (400, "invalid-request", "$.startedAt")


@pytest.mark.parametrize("began", ["1970-01-01T00:00:00Z", "2027-01-15T08:00:00.500Z"])
def test_a_call_that_is_accepted_is_also_listed_page_by_page(api: InProcessApi, began: str) -> None:
    path = f"/sessions/{api.open()}/tool-calls"
    body = {**CALL, "startedAt": began}
    assert [api.call("PUT", f"{path}/c{number}", body).status for number in range(2)] == [201, 201]
    first = api.call("GET", path, query={"limit": "1"}).json
    rest = api.call("GET", path, query={"limit": "1", "cursor": first["nextCursor"]}).json
    assert [item["toolCallId"] for item in first["items"] + rest["items"]] == ["c0", "c1"]
    assert rest["nextCursor"] is None
