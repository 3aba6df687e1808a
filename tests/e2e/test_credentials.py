"""Who cannot prove who calls is turned away before any code of ours runs, and nothing secret is logged."""

import json
import secrets
from collections.abc import Callable

import pytest

from local.credentials import Credentials
from local.signed_http import Answer, Api
from tests.support.calls import Acting, append, assert_problem, create, read, tool_call
from tests.support.delivery import eventually
from tests.support.emulator import LiveStack
from tests.support.idle import IdleSession
from tests.support.logs import from_now_on, invocations, log_lines, nudge
from tests.support.raw_table import RawTable

Send = Callable[[LiveStack, str], Answer]


def unsigned(stack: LiveStack, path: str) -> Answer:
    return stack.api().call("PUT", path, {"stolen": 1}, {"If-Match": "*"})


def of_an_unknown_key(stack: LiveStack, path: str) -> Answer:
    key = Credentials(access_key_id="AKIAEXAMPLEEXAMPLE00", secret_access_key="of nobody")
    return stack.api("tenant-a").as_(key).call("PUT", path, {"stolen": 1}, {"If-Match": "*"})


def of_a_guessed_secret(stack: LiveStack, path: str) -> Answer:
    key = Credentials(access_key_id=stack.keys["tenant-a"].access_key_id, secret_access_key="guessed")
    return stack.api("tenant-a").as_(key).call("PUT", path, {"stolen": 1}, {"If-Match": "*"})


def with_another_body(stack: LiveStack, path: str) -> Answer:
    return tampered(stack.api("tenant-a"), signed=(path, b'{"a":1}'), sent=(path, b'{"stolen":1}'))


def with_another_path(stack: LiveStack, path: str) -> Answer:
    return tampered(stack.api("tenant-a"), signed=("/sessions", b"{}"), sent=(path, b"{}"))


def with_another_header(stack: LiveStack, path: str) -> Answer:
    headers = {"Session-Subject": "mallory", "If-Match": "*"}
    api = stack.api("tenant-a")
    signed = api._signed("PUT", api._base + path, b"{}", headers)
    return api._send("PUT", api._base + path, b"{}", {**signed, "Session-Subject": "alice"})


def tampered(api: Api, *, signed: tuple[str, bytes], sent: tuple[str, bytes]) -> Answer:
    """Signed for one request, sent with another."""
    headers = api._signed("PUT", api._base + signed[0], signed[1], {"If-Match": "*"})
    return api._send("PUT", api._base + sent[0], sent[1], headers)


INTRUDERS: list[Send] = [
    unsigned,
    of_an_unknown_key,
    of_a_guessed_secret,
    with_another_body,
    with_another_path,
    with_another_header,
]


@pytest.mark.parametrize("send", INTRUDERS)
def test_who_cannot_prove_to_be_the_caller_is_refused(
    deployed: LiveStack, api: Acting, raw: RawTable, send: Send
) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    answer = send(deployed, f"/sessions/{session_id}/state")
    assert answer.status in {401, 403}
    assert_problem(answer, answer.status, {401: "unauthenticated", 403: "forbidden"}[answer.status])
    assert raw.partition(session_id) == before


def test_no_code_runs_for_who_is_refused(deployed: LiveStack, api: Acting, idle: IdleSession) -> None:
    idle.result()  # From then on nobody else calls.
    path = f"/sessions/{create(api)['sessionId']}/state"
    began = from_now_on()
    for send in INTRUDERS:
        assert send(deployed, path).status in {401, 403}
    assert invocations(deployed, since=began) == 0
    assert api.call("GET", "/sessions").status == 200
    assert invocations(deployed, since=began) == 1


def test_a_request_is_found_in_the_log_by_its_id(deployed: LiveStack, api: Acting) -> None:
    began = from_now_on() - 1
    instance = api.call("GET", "/sessions/unknown").json["instance"]

    def is_told() -> bool:
        nudge(deployed)
        return any(instance in line for line in log_lines(deployed, since=began))

    assert eventually(is_told)


def test_no_log_line_holds_what_callers_keep_in_the_store(deployed: LiveStack, api: Acting) -> None:
    marker = f"marker-{secrets.token_hex(16)}"
    began = from_now_on()
    session = create(api, {"state": {"k": marker, marker: 1}, "protocol": {"token": marker}})
    path = f"/sessions/{session['sessionId']}"
    append(api, session["sessionId"], marker, marker + "x" * 400_000)
    api.call("PUT", f"{path}/tool-calls/c1", tool_call(input=marker, output={marker: marker}))
    api.call("PUT", f"{path}/tool-calls/c1", tool_call(input="other", output={marker: marker}))
    large = tool_call(input=marker + "x" * 400_000, output={marker: "y" * 400_000})
    for _ in range(2):
        api.call("PUT", f"{path}/tool-calls/c2", large)
    api.call("GET", f"{path}/history")
    api.call("PATCH", f"{path}/state", {"increment": {"k": 1}, "set": {"other": marker}})
    api.call("PATCH", f"{path}/state", {"append": {marker: [1]}})
    api.call("POST", "/sessions", {marker: 1})
    api.call("POST", "/sessions", json.dumps({"state": marker}).encode() + b"}")
    api.call("GET", f"{path}?{marker}=1", headers={"Authorization": f"Bearer {marker}"})
    api.call("GET", path, headers={"Session-Min-Version": marker})
    api.call("GET", f"/sessions/{marker}")
    assert read(api, session["sessionId"])["state"]["k"] == marker
    nudge(deployed)
    assert invocations(deployed, since=began) >= 12
    assert [line for line in log_lines(deployed, since=began) if marker in line] == []
