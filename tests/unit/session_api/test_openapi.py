"""The committed OpenAPI document: generated from the code, valid, and described throughout."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from session_api.openapi import document
from session_api.operations import OPERATIONS

ROOT = Path(__file__).resolve().parents[3]
COMMITTED: dict[str, Any] = json.loads((ROOT / "docs" / "openapi.json").read_text())
CONTRACT = {
    ("post", "/sessions"),
    ("get", "/sessions"),
    ("get", "/sessions/{sessionId}"),
    ("delete", "/sessions/{sessionId}"),
    ("put", "/sessions/{sessionId}/state"),
    ("patch", "/sessions/{sessionId}/state"),
    ("post", "/sessions/{sessionId}/status"),
    ("post", "/sessions/{sessionId}/touch"),
    ("post", "/sessions/{sessionId}/context"),
    ("get", "/sessions/{sessionId}/context"),
    ("post", "/sessions/{sessionId}/checkpoints"),
    ("get", "/sessions/{sessionId}/checkpoints"),
    ("get", "/sessions/{sessionId}/checkpoints/latest"),
    ("get", "/sessions/{sessionId}/checkpoints/{checkpointId}"),
    ("put", "/sessions/{sessionId}/tool-calls/{toolCallId}"),
    ("get", "/sessions/{sessionId}/tool-calls/{toolCallId}"),
    ("get", "/sessions/{sessionId}/tool-calls"),
    ("get", "/sessions/{sessionId}/history"),
    ("get", "/ops/expiring"),
    ("post", "/ops/drain"),
    ("get", "/ops/dlq"),
    ("post", "/ops/dlq/redrive"),
    ("get", "/sessions/{sessionId}/audit"),
    ("get", "/sessions/{sessionId}/recovery"),
    ("post", "/sessions/{sessionId}/tool-calls"),
    *(
        ("post", f"{held}/{step}")
        for held in ("/sessions/{sessionId}/tool-calls/{toolCallId}", "/claims/{key}")
        for step in ("complete", "fail", "heartbeat", "reconcile")
    ),
    ("put", "/claims/{key}"),
    ("get", "/claims/{key}"),
    ("post", "/tasks"),
    ("get", "/tasks"),
    ("post", "/tasks/claim"),
    ("get", "/tasks/{taskId}"),
    *(
        ("post", f"/tasks/{{taskId}}/{step}")
        for step in ("complete", "fail", "heartbeat", "cancel", "decide")
    ),
    ("get", "/health"),
}


def described(method: str, path: str) -> Any:
    return COMMITTED["paths"][path][method]


def parameters(method: str, path: str) -> dict[str, Any]:
    return {parameter["name"]: parameter for parameter in described(method, path)["parameters"]}


def test_the_committed_document_has_not_drifted_from_the_code() -> None:
    assert json.loads(json.dumps(document())) == COMMITTED


def test_the_document_is_valid_openapi_3_1() -> None:
    assert COMMITTED["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(COMMITTED).iter_errors()) == []


def test_the_document_has_the_routes_of_the_contract() -> None:
    found = {(method, path) for path, operations in COMMITTED["paths"].items() for method in operations}
    assert found == CONTRACT
    assert {(operation.method.lower(), operation.path) for operation in OPERATIONS} == CONTRACT


@pytest.mark.parametrize(("method", "path"), sorted(CONTRACT))
def test_an_operation_lists_its_successes_and_refusals(method: str, path: str) -> None:
    operation = next(o for o in OPERATIONS if (o.method.lower(), o.path) == (method, path))
    expected = {*operation.statuses, *(problem.status for problem in operation.problems)}
    assert {int(status) for status in described(method, path)["responses"]} == expected
    if "{sessionId}" in path:
        assert 404 in expected
    if path != "/health":
        assert {400, 401, 403, 413, 500, 503} <= expected


def test_only_health_is_anonymous() -> None:
    open_ = {path for method, path in CONTRACT if described(method, path).get("security") == []}
    assert open_ == {"/health"}


def test_every_write_of_a_session_takes_a_version() -> None:
    conditional = {(method, path) for method, path in CONTRACT if "If-Match" in parameters(method, path)}
    session = "/sessions/{sessionId}"
    assert conditional == {
        ("put", f"{session}/state"),
        ("patch", f"{session}/state"),
        ("post", f"{session}/status"),
        ("post", f"{session}/touch"),
        ("delete", session),
    }


def test_writes_that_must_not_happen_twice_accept_a_key() -> None:
    keyed = {(method, path) for method, path in CONTRACT if "Idempotency-Key" in parameters(method, path)}
    assert keyed == {
        ("post", "/sessions"),
        ("post", "/tasks"),
        ("patch", "/sessions/{sessionId}/state"),
        ("post", "/sessions/{sessionId}/checkpoints"),
    }
    for method, path in keyed:
        responses = described(method, path)["responses"]
        success = responses["201" if method == "post" else "200"]
        assert "Idempotent-Replayed" in success["headers"]
        assert "`idempotency-mismatch`" in responses["422"]["description"]


def test_every_list_has_a_limit_and_a_cursor() -> None:
    paged = {path for method, path in CONTRACT if {"limit", "cursor"} <= set(parameters(method, path))}
    session = "/sessions/{sessionId}"
    assert paged == {
        "/sessions",
        f"{session}/context",
        f"{session}/checkpoints",
        f"{session}/tool-calls",
        f"{session}/history",
        f"{session}/audit",
        "/ops/expiring",
        "/tasks",
    }
    schema = parameters("get", "/sessions")["limit"]["schema"]
    assert schema == {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}


def test_operation_ids_are_unique() -> None:
    ids = [described(method, path)["operationId"] for method, path in CONTRACT]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("method", "path"), sorted(CONTRACT))
def test_every_operation_and_parameter_is_described(method: str, path: str) -> None:
    operation = described(method, path)
    assert operation["summary"]
    assert operation["tags"][0] in {tag["name"] for tag in COMMITTED["tags"]}
    assert [each["name"] for each in operation["parameters"] if not each["description"]] == []


@pytest.mark.parametrize("name", sorted(COMMITTED["components"]["schemas"]))
def test_every_schema_and_member_is_described(name: str) -> None:
    schema = COMMITTED["components"]["schemas"][name]
    assert schema["description"]
    assert [member for member, each in schema["properties"].items() if not each.get("description")] == []


def test_a_member_that_is_inherited_has_its_description() -> None:
    schemas = COMMITTED["components"]["schemas"]
    inherited = schemas["ToolCallAnswer"]["properties"]["fence"]["description"]
    assert schemas["BegunToolCall"]["properties"]["fence"]["description"] == inherited


def test_a_refusal_is_explained_where_it_is_listed() -> None:
    description = described("post", "/claims/{key}/heartbeat")["responses"]["409"]["description"]
    assert description.startswith("`fenced`: ")
    several = described("put", "/claims/{key}")["responses"]["409"]["description"].splitlines()
    assert [line.partition(": ")[0] for line in several] == ["- `in-progress`", "- `outcome-unknown`"]


def test_describing_the_source_is_not_loaded_while_serving() -> None:
    program = "import sys, session_api.resolver; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"session_api.source_texts", "session_api.openapi"} & set(done.stdout.split())
