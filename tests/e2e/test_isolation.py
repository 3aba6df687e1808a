"""Somebody else's session is answered exactly as one that never was, on every route there is."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from local.signed_http import Answer
from tests.support.calls import (
    UNKNOWN_ID,
    Acting,
    append,
    create_in,
    ids,
    message_id,
    new_subject,
    running_call,
    tool_call,
)
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable

DOCUMENT: Final = Path(__file__).resolve().parent.parent.parent / "docs" / "openapi.json"
METHODS: Final = frozenset({"get", "put", "post", "patch", "delete"})
VARYING: Final = frozenset({"date", "x-amzn-requestid", "x-amz-request-id", "x-amzn-trace-id"})
"""Headers that differ between any two answers."""

CALL_ID: Final = "c1"
CHECKPOINTS: Final[dict[str, str]] = {}
"""By session, as they are made."""


def bodies() -> Mapping[str, Any]:
    """A valid body for each operation on a session that takes one, by its id in the document.

    Made anew for each test: an id is of the time when it is.
    """
    return {
        "replaceState": {"stolen": True},
        "changeState": {"set": {"stolen": True}},
        "moveSession": {"to": "closing"},
        "appendMessages": {"messages": [{"content": "stolen", "messageId": message_id()}]},
        "addCheckpoint": {"data": "stolen", "checkpointId": message_id()},
        "recordToolCall": tool_call(),
        "beginToolCall": running_call("stranger"),
        "completeToolCall": {"fence": 1, "output": {"hits": 3}},
        "failToolCall": {"fence": 1, "error": 1},
        "extendToolCall": {"fence": 1, "leaseSeconds": 9},
        "reconcileToolCall": {"outcome": "retry"},
    }


class Operation(NamedTuple):
    name: str
    method: str
    path: str
    takes_body: bool
    takes_version: bool


def operations() -> Iterator[Operation]:
    """Every operation of the document on one session."""
    for path, methods in json.loads(DOCUMENT.read_text())["paths"].items():
        for method, operation in methods.items():
            if method in METHODS and "{sessionId}" in path:
                yield Operation(
                    operation["operationId"],
                    method.upper(),
                    path,
                    takes_body="requestBody" in operation,
                    takes_version=any(each["name"] == "If-Match" for each in operation["parameters"]),
                )


OPERATIONS: Final = sorted(operations())


def seen(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    """All of an answer that must not tell anything; the request's own id aside."""
    headers = {name: value for name, value in answer.headers.items() if name not in VARYING}
    instance = json.loads(answer.body)["instance"].encode()
    return answer.status, headers, answer.body.replace(instance, b"")


def owned(api: Acting, status: str) -> str:
    """A session with something of everything in it."""
    session_id = create_in(api, "initializing", state={"secret": 1})
    append(api, session_id, "secret")
    assert api.call("PUT", f"/sessions/{session_id}/tool-calls/{CALL_ID}", tool_call()).status == 201
    CHECKPOINTS[session_id] = message_id()
    kept = {"data": "secret", "checkpointId": CHECKPOINTS[session_id]}
    assert api.call("POST", f"/sessions/{session_id}/checkpoints", kept).status == 201
    steps = {"initializing": (), "closed": ("closing", "closed")}[status]
    for step in steps:
        assert api.call("POST", f"/sessions/{session_id}/status", {"to": step}).status == 200
    return session_id


@pytest.fixture(scope="module")
def victim(deployed: LiveStack) -> Acting:
    return Acting(deployed.api("tenant-a"), new_subject())


@pytest.fixture(scope="module", params=["initializing", "closed"])
def session_id(request: pytest.FixtureRequest, victim: Acting) -> str:
    return owned(victim, request.param)


@pytest.fixture(scope="module")
def strangers(deployed: LiveStack, victim: Acting) -> dict[str, Any]:
    """All who are not the owner; one of them has the same user's name in another tenant."""
    return {
        "another tenant": deployed.api("tenant-b"),
        "the same subject of another tenant": Acting(deployed.api("tenant-b"), victim.subject),
        "another subject of the tenant": Acting(deployed.api("tenant-a"), new_subject()),
        "the tenant for nobody": deployed.api("tenant-a"),
    }


def test_every_operation_on_a_session_that_takes_a_body_has_one_here() -> None:
    assert {operation.name for operation in OPERATIONS if operation.takes_body} == set(bodies())


@pytest.mark.parametrize(
    "headers", [{}, {"If-Match": "*"}, {"If-Match": '"1"'}], ids=["plain", "any", "at 1"]
)
@pytest.mark.parametrize("operation", OPERATIONS, ids=[operation.name for operation in OPERATIONS])
def test_a_stranger_learns_nothing_and_changes_nothing(
    strangers: dict[str, Any],
    session_id: str,
    raw: RawTable,
    raw_audit: RawTable,
    *,
    operation: Operation,
    headers: dict[str, str],
) -> None:
    target = operation.path.replace("{toolCallId}", CALL_ID)
    target = target.replace("{checkpointId}", CHECKPOINTS[session_id])
    assert target.count("{") == 1
    body = bodies()[operation.name] if operation.takes_body else None
    refusals = {404, 428} if operation.name == "replaceState" and not headers else {404}
    if headers.get("If-Match", "*") != "*" and operation.method != "GET" and not operation.takes_version:
        refusals = {400}
    before = raw.partition(session_id), raw_audit.partition(session_id)
    for stranger in strangers.values():
        known = stranger.call(operation.method, target.replace("{sessionId}", session_id), body, headers)
        unknown = stranger.call(operation.method, target.replace("{sessionId}", UNKNOWN_ID), body, headers)
        assert seen(known) == seen(unknown)
        assert known.status in refusals
    assert (raw.partition(session_id), raw_audit.partition(session_id)) == before


def test_no_list_shows_a_strangers_session(
    strangers: dict[str, Any], session_id: str, victim: Acting
) -> None:
    assert session_id in ids(victim, "/sessions?limit=100")
    for stranger in strangers.values():
        assert session_id not in ids(stranger, "/sessions?limit=100")
