"""The client has every operation and every schema of ``docs/openapi.json``."""

import inspect
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from session_store_client import (
    AsyncClient,
    Client,
    checkpoint_calls,
    claim_calls,
    errors,
    message_calls,
    operator_calls,
    session_calls,
    task_calls,
    tool_call_calls,
)
from session_store_client.answers import Message, Session
from session_store_client.calls import IF_MATCH, MIN_VERSION, Call

DOCUMENT: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "docs" / "openapi.json").read_text()
)
OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
MODULES = (
    session_calls,
    message_calls,
    tool_call_calls,
    checkpoint_calls,
    claim_calls,
    task_calls,
    operator_calls,
)
ARGUMENTS: Mapping[str, object] = {
    "session_id": "use1-a",
    "tool_call_id": "c1",
    "data": {"step": 1},
    "namespace": "n",
    "checkpoint_id": "k1",
    "parent_id": "k0",
    "retain_seconds": 900,
    "state": {},
    "protocol": {},
    "credential_refs": ["r"],
    "idle_timeout": 60,
    "max_lifetime": 60,
    "status": "active",
    "limit": 1,
    "cursor": "c",
    "min_version": 3,
    "version": 7,
    "set": {"a": 1},
    "remove": ["b"],
    "increment": {"n": 1},
    "append": {"l": [1]},
    "to": "active",
    "contents": ["x"],
    "message_ids": ["i"],
    "atomic": True,
    "order": "desc",
    "tool_name": "t",
    "input": 1,
    "duration_ms": 1,
    "output": 1,
    "error": 1,
    "started_at": "2026-11-30T08:30:00Z",
    "key": "k1",
    "fence": 1,
    "attempt_id": "a1",
    "lease_seconds": 60,
    "retry_safe": True,
    "messages": [{"content": 1}],
    "tasks": [],
    "expected_version": 3,
    "outcome": "completed",
    "task_id": "t1",
    "payload": 1,
    "kind": "approval",
    "due_at": "2026-11-30T08:30:00Z",
    "deadline": "2026-11-30T08:30:00Z",
    "retain_days": 1,
    "result": 1,
    "following": [],
    "retry_in_seconds": 1,
    "decision": "approved",
    "comment": "fine",
    "within_seconds": 1,
    "queue": "stream",
    "max_tasks": 1,
    "max_letters": 1,
}
"""An argument for each parameter of the client's functions."""


def function_of(operation_id: str) -> Callable[..., Call[Any]]:
    name = re.sub(r"(?<!^)([A-Z])", r"_\1", operation_id).lower()
    (candidate,) = (getattr(module, name) for module in MODULES if hasattr(module, name))
    function: Callable[..., Call[Any]] = candidate
    return function


def whole(operation_id: str) -> Call[Any]:
    """Build a call with every argument."""
    function = function_of(operation_id)
    return function(**{name: ARGUMENTS[name] for name in inspect.signature(function).parameters})


def shape(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    """Reduce a schema to what has to agree: no names, descriptions or order."""
    if "$ref" in schema:
        return shape(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return ("any of", frozenset(map(str, (shape(each, definitions) for each in schema["anyOf"]))))
    reduced = {name: value for name, value in schema.items() if name in {"type", "required"}}
    if "enum" in schema:
        reduced["enum"] = sorted(schema["enum"])
    if "items" in schema:
        reduced["items"] = shape(schema["items"], definitions)
    if "required" in schema:
        reduced["required"] = sorted(schema["required"])
    if "properties" in schema:
        reduced["properties"] = {
            name: shape(each, definitions) for name, each in sorted(schema["properties"].items())
        }
    return reduced


def answered(operation: Mapping[str, Any]) -> set[str]:
    """Return the schemas of successful responses; ``null`` for an empty body."""
    contents = [
        answer.get("content", {}) for status, answer in operation["responses"].items() if status < "300"
    ]
    return {json.dumps(content.get("application/json", {}).get("schema")) for content in contents}


def test_the_client_has_every_operation_and_no_other() -> None:
    own = {
        value.__name__
        for module in MODULES
        for value in vars(module).values()
        if inspect.isfunction(value) and value.__module__ == module.__name__
        if not value.__name__.startswith("_")
    }
    assert {function_of(name).__name__ for name in OPERATIONS} == own


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_every_operation_is_a_method_of_its_name_and_no_other_is(client: type) -> None:
    methods = {name for name, value in vars(client).items() if hasattr(value, "__signature__")}
    assert methods == {function_of(name).__name__ for name in OPERATIONS}


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_every_method_says_what_it_does_and_whether_it_may_be_repeated(operation_id: str) -> None:
    text = inspect.getdoc(function_of(operation_id)) or ""
    assert re.search(r"[Ss]afe\s+to|[Rr]etried", text)


def test_both_clients_have_the_same_methods() -> None:
    def described(client: type) -> dict[str, tuple[str, str | None]]:
        return {
            name: (str(inspect.signature(value).parameters), value.__doc__)
            for name, value in vars(client).items()
            if hasattr(value, "__signature__")
        }

    assert described(Client) == described(AsyncClient)
    assert len(described(Client)) == len(OPERATIONS)


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_a_call_goes_where_its_operation_is(operation_id: str) -> None:
    method, path, _ = OPERATIONS[operation_id]
    call = whole(operation_id)
    assert call.method == method
    named = {"sessionId": "use1-a", "toolCallId": "c1", "checkpointId": "k1", "key": "k1", "taskId": "t1"}
    assert call.path == path.format(**named)


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_a_call_sends_every_parameter_and_no_other(operation_id: str) -> None:
    _, _, operation = OPERATIONS[operation_id]
    named = {(each["in"], each["name"].lower()) for each in operation.get("parameters", ())}
    call = whole(operation_id)
    assert {name.lower() for name in call.query} == {name for where, name in named if where == "query"}
    own = {name for where, name in named if where == "header"} & {IF_MATCH, MIN_VERSION}
    # Lists read by page, and answers without a session, take no minimum version.
    assert set(call.headers) == own or (own == {MIN_VERSION} and operation_id in UNVERSIONED)


UNVERSIONED = {
    "listSessions",
    "listExpiring",
    "listDeadLetters",
    "listAudit",
    "getClaim",
    "listTasks",
    "getTask",
}


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_a_call_sends_every_member_of_its_body_and_no_other(operation_id: str) -> None:
    _, _, operation = OPERATIONS[operation_id]
    call = whole(operation_id)
    content = operation.get("requestBody", {}).get("content", {})
    if not content:
        assert call.body is None
        return
    schema = content["application/json"]["schema"]
    if "$ref" not in schema:
        return
    name = schema["$ref"].rpartition("/")[2]
    assert isinstance(call.body, dict)
    assert set(call.body) == set(DOCUMENT["components"]["schemas"][name]["properties"])


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_an_answer_has_the_shape_of_the_document(operation_id: str) -> None:
    _, _, operation = OPERATIONS[operation_id]
    (text,) = answered(operation)
    kind = whole(operation_id).answer
    documented = json.loads(text)
    if documented is None:
        assert kind is type(None)
        return
    own = msgspec.json.schema(kind)
    expected = shape(documented, DOCUMENT["components"]["schemas"])
    assert shape(own, own.get("$defs", {})) == expected


def test_a_key_is_sent_where_the_document_takes_one() -> None:
    taken = {
        name
        for name, (_, _, operation) in OPERATIONS.items()
        if any(each["name"] == "Idempotency-Key" for each in operation.get("parameters", ()))
    }
    keyed = {name for name in OPERATIONS if whole(name).keyed}
    assert keyed == {"createSession", "changeState", "createTask"}
    # A checkpoint has an id of the client's own, which does as much for half the price.
    assert taken == {*keyed, "addCheckpoint"}


def test_every_problem_of_the_document_is_an_exception() -> None:
    text = json.dumps(DOCUMENT["paths"])
    slugs = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", " ".join(descriptions(DOCUMENT["paths"]))))
    assert "session-not-found" in slugs, text[:200]
    assert slugs <= set(errors.ERROR_BY_SLUG)


def descriptions(paths: Mapping[str, Any]) -> list[str]:
    return [
        answer["description"]
        for methods in paths.values()
        for operation in methods.values()
        for status, answer in operation["responses"].items()
        if status >= "400"
    ]


def test_a_methods_signature_has_the_type_that_it_returns() -> None:
    def returned(method: object) -> object:
        return inspect.signature(method).return_annotation  # type: ignore[arg-type] # a method

    assert returned(Client.get_session) == returned(AsyncClient.get_session) == Session
    assert returned(Client.list_messages) == Iterator[Message]
    assert returned(AsyncClient.list_messages) == AsyncIterator[Message]
    assert returned(Client.delete_session) is type(None)
