"""The client has every operation and every schema of ``docs/openapi.json``."""

import inspect
import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from session_store_client import errors
from session_store_client.calls import IF_MATCH, MIN_VERSION
from tests.clients.operations import DOCUMENT, MODULES, OPERATIONS, function_of, whole


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
    slugs = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`: ", " ".join(descriptions(DOCUMENT["paths"]))))
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
