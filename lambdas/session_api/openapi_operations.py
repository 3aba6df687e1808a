"""One operation as the OpenAPI document describes it."""

import re
import sys
from collections.abc import Sequence
from http import HTTPStatus
from types import ModuleType
from typing import Any, Final

from session_api import problems
from session_api.callers import SUBJECT_HEADER
from session_api.openapi_schemas import reference
from session_api.operations import Operation, Parameter
from session_api.problems import CONTENT_TYPE, RETRY_AFTER, Problem
from session_api.requests import IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED, IF_MATCH, MIN_VERSION
from session_api.session_answers import SessionAnswer
from session_api.source_texts import constant_texts, docstring
from session_api.tool_call_answers import HistoryPage
from session_store.domain.idempotency_key import KEY_PATTERN, MAX_KEY
from session_store.domain.identifiers import (
    IDENTIFIER_PATTERN,
    MAX_IDENTIFIER,
    MAX_TOOL_CALL_ID,
    MESSAGE_ID_PATTERN,
    SESSION_ID_PATTERN,
)

PATH_PARAMETERS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "sessionId": ("The session's id, as the store minted it.", {"pattern": SESSION_ID_PATTERN}),
    "taskId": ("The task's id, as the store minted it.", {"pattern": SESSION_ID_PATTERN}),
    "checkpointId": ("The checkpoint's id, a UUIDv7.", {"pattern": MESSAGE_ID_PATTERN}),
    "toolCallId": (
        "The caller's id of the call, unique within the session; percent-encoded.",
        {"minLength": 1, "maxLength": MAX_TOOL_CALL_ID, "pattern": IDENTIFIER_PATTERN},
    ),
    "key": (
        "The caller's name for the work; percent-encoded.",
        {"minLength": 1, "maxLength": MAX_KEY, "pattern": IDENTIFIER_PATTERN},
    ),
}


def group_of(routes: ModuleType) -> tuple[str, str]:
    """The name and the description of a module's operations, from its docstring: ``Name: description``."""
    summary, _ = docstring(routes)
    name, _, description = summary.partition(": ")
    return name, description[:1].upper() + description[1:]


def describe_operation(operation: Operation) -> dict[str, Any]:
    summary, description = docstring(operation.route)
    described: dict[str, Any] = {
        "operationId": _camel(operation.name),
        "tags": [group_of(sys.modules[operation.route.__module__])[0]],
        "summary": summary.removesuffix("."),
        "parameters": [*_path(operation), *map(_query, operation.query), *_headers(operation)],
        "responses": _responses(operation),
    }
    if description:
        described["description"] = description
    if operation.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": reference(operation.body)}},
        }
    if operation.anonymous:
        described["security"] = []
    return described


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _path(operation: Operation) -> list[dict[str, Any]]:
    described = []
    for name in re.findall(r"{(\w+)}", operation.path):
        description, schema = PATH_PARAMETERS[name]
        described.append(
            {
                "name": name,
                "in": "path",
                "required": True,
                "description": description,
                "schema": {"type": "string", **schema},
            }
        )
    return described


def _query(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "schema": parameter.schema,
    }


def _headers(operation: Operation) -> list[dict[str, Any]]:
    if operation.anonymous:
        return []
    subject = {"type": "string", "minLength": 1, "maxLength": MAX_IDENTIFIER, "pattern": IDENTIFIER_PATTERN}
    headers = [
        _header(SUBJECT_HEADER, subject, "The end user that a configured delegate acts for; SigV4 only.")
    ]
    if operation.method == "GET":
        version = {"type": "integer", "minimum": 0}
        seen = "A version of the session that the caller has seen: no older copy is served."
        headers.append(_header(MIN_VERSION, version, seen))
    if operation.conditional:
        etag = {"type": "string", "pattern": r'^(\*|"\d{1,15}")$'}
        expected = "The version that the session must have, in double quotes, or `*` for any."
        headers.append(_header(IF_MATCH, etag, expected))
    if operation.keyed:
        key = {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": KEY_PATTERN}
        once = "Makes the request take effect once for 91 days, however often it is sent."
        headers.append(_header(IDEMPOTENCY_KEY, key, once))
    return headers


def _header(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": description, "schema": schema}


def _responses(operation: Operation) -> dict[str, Any]:
    responses = {str(status): _success(operation, status) for status in operation.statuses}
    by_status: dict[int, list[Problem]] = {}
    for problem in operation.problems:
        by_status.setdefault(problem.status, []).append(problem)
    for status, refusals in sorted(by_status.items()):
        responses[str(status)] = _refusal(refusals)
    return responses


def _success(operation: Operation, status: int) -> dict[str, Any]:
    if operation.answer is None:
        return {"description": "Done."}
    answer: dict[str, Any] = {
        "description": _outcome(operation, status),
        "content": {"application/json": {"schema": reference(operation.answer)}},
    }
    if operation.answer in (SessionAnswer, HistoryPage):
        answer["headers"] = {"ETag": _response_header("The session's version, in double quotes.")}
    if operation.answer is SessionAnswer and status == HTTPStatus.CREATED:
        answer["headers"]["Location"] = _response_header("The session, relative to this request.")
    if operation.keyed:
        replayed = "`true` where an earlier request under the same key had the effect, and this one had none."
        answer.setdefault("headers", {})[IDEMPOTENT_REPLAYED] = _response_header(replayed)
    return answer


def _outcome(operation: Operation, status: int) -> str:
    if HTTPStatus.CREATED not in operation.statuses:
        return "Success."
    if status != HTTPStatus.CREATED:
        return "Done by an earlier request: nothing was written."
    if operation.keyed:
        return f"Done by this request, or with `{IDEMPOTENT_REPLAYED}` by an earlier one."
    return "Done by this request."


def _refusal(refusals: Sequence[Problem]) -> dict[str, Any]:
    names = {problem: name for name, problem in vars(problems).items() if isinstance(problem, Problem)}
    texts = constant_texts(problems)
    meanings = sorted({f"`{problem.slug}`: {texts[names[problem]]}" for problem in refusals})
    answer: dict[str, Any] = {
        "description": "\n".join(f"- {meaning}" for meaning in meanings) if meanings[1:] else meanings[0],
        "content": {CONTENT_TYPE: {"schema": reference(Problem)}},
    }
    if any(problem in RETRY_AFTER for problem in refusals):
        waiting = {"schema": {"type": "integer"}, "description": "Seconds to wait before trying again."}
        answer["headers"] = {"Retry-After": waiting}
    return answer


def _response_header(description: str) -> dict[str, Any]:
    return {"schema": {"type": "string"}, "description": description}
