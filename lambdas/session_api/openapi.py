"""The OpenAPI 3.1 document of the declared operations: ``python -m session_api.openapi``.

Never imported while serving.
"""

import json
import re
import sys
from http import HTTPStatus
from typing import Any, Final

import msgspec

from session_api import resolver  # noqa: F401 - declares the operations
from session_api.answers import SessionAnswer
from session_api.callers import SUBJECT_HEADER
from session_api.operations import OPERATIONS, Operation, Parameter
from session_api.problems import CONTENT_TYPE, RETRY_AFTER, Problem
from session_api.requests import IDEMPOTENCY_KEY, IF_MATCH, MIN_VERSION, REPLAYED
from session_api.tool_call_answers import HistoryPage
from session_store.domain.idempotency_key import KEY_PATTERN, MAX_KEY
from session_store.domain.identifiers import (
    IDENTIFIER_PATTERN,
    MAX_IDENTIFIER,
    MAX_TOOL_CALL_ID,
    MESSAGE_ID_PATTERN,
    SESSION_ID_PATTERN,
)

REF: Final = "#/components/schemas/{name}"
PROBLEM_SCHEMA: Final[dict[str, Any]] = {
    "title": "Problem",
    "description": "RFC 9457. Further members are facts: `currentVersion`, `path`, `limit` and so on.",
    "type": "object",
    "properties": {
        "type": {"type": "string", "description": "`/problems/<slug>`"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string", "description": "The id of the request."},
    },
    "required": ["type", "title", "status", "detail", "instance"],
    "additionalProperties": True,
}
PATH_PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "sessionId": {"type": "string", "pattern": SESSION_ID_PATTERN},
    "taskId": {"type": "string", "pattern": SESSION_ID_PATTERN},
    "checkpointId": {"type": "string", "pattern": MESSAGE_ID_PATTERN},
    "toolCallId": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_TOOL_CALL_ID,
        "pattern": IDENTIFIER_PATTERN,
    },
    "key": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_KEY,
        "pattern": IDENTIFIER_PATTERN,
    },
}


def document() -> dict[str, Any]:
    """The whole document, in a fixed order."""
    types = [kind for operation in OPERATIONS for kind in (operation.body, operation.answer)]
    structs = sorted({kind for kind in types if kind not in (None, dict)}, key=lambda kind: kind.__name__)
    _, schemas = msgspec.json.schema_components(structs, ref_template=REF)
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "MCP session store",
            "version": "1",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [
            {
                "url": "https://{api}.execute-api.{region}.amazonaws.com/v1",
                "variables": {"api": {"default": "example"}, "region": {"default": "us-east-1"}},
            }
        ],
        "security": [{"sigv4": []}, {"bearer": []}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": {**dict(sorted(schemas.items())), "Problem": PROBLEM_SCHEMA},
            "securitySchemes": {
                "sigv4": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "AWS Signature Version 4, service `execute-api`.",
                },
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "Where the store is deployed with `auth=jwt`; without Session-Subject.",
                },
            },
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    result: dict[str, Any] = {
        "operationId": _camel(operation.name),
        "summary": operation.summary,
        "parameters": [*_path(operation), *map(_query, operation.query), *_headers(operation)],
        "responses": _responses(operation),
    }
    if operation.description:
        result["description"] = operation.description
    if operation.body is not None:
        result["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _schema(operation.body)}},
        }
    if operation.anonymous:
        result["security"] = []
    return result


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _schema(kind: type) -> dict[str, Any]:
    return {"type": "object"} if kind is dict else {"$ref": REF.format(name=kind.__name__)}


def _path(operation: Operation) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": PATH_PARAMETERS[name]}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]


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
    headers = [_header(SUBJECT_HEADER, subject, "The end user that a delegate acts for.")]
    if operation.method == "GET":
        version = {"type": "integer", "minimum": 0}
        headers.append(_header(MIN_VERSION, version, "Never answer from an older copy than this."))
    if operation.conditional:
        etag = {"type": "string", "pattern": r'^(\*|"\d{1,15}")$'}
        headers.append(_header(IF_MATCH, etag, "The version of the session that is changed, in quotes."))
    if operation.keyed:
        key = {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": KEY_PATTERN}
        headers.append(_header(IDEMPOTENCY_KEY, key, "Makes the call happen once, however often it is sent."))
    return headers


def _header(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": description, "schema": schema}


def _header_schema(description: str) -> dict[str, Any]:
    return {"schema": {"type": "string"}, "description": description}


def _responses(operation: Operation) -> dict[str, Any]:
    responses = {str(status): _success(operation, status) for status in operation.statuses}
    by_status: dict[int, list[Problem]] = {}
    for problem in operation.problems:
        by_status.setdefault(problem.status, []).append(problem)
    for status, listed in sorted(by_status.items()):
        slugs = sorted({problem.slug for problem in listed})
        answer: dict[str, Any] = {
            "description": ", ".join(f"`{slug}`" for slug in slugs),
            "content": {CONTENT_TYPE: {"schema": {"$ref": REF.format(name="Problem")}}},
        }
        if any(problem in RETRY_AFTER for problem in listed):
            answer["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
        responses[str(status)] = answer
    return responses


def _success(operation: Operation, status: int) -> dict[str, Any]:
    if operation.answer is None:
        return {"description": "Done."}
    answer: dict[str, Any] = {
        "description": "Created." if status == HTTPStatus.CREATED else "The answer.",
        "content": {"application/json": {"schema": _schema(operation.answer)}},
    }
    if operation.answer in (SessionAnswer, HistoryPage):
        answer["headers"] = {"ETag": _header_schema("The session's version, in quotes.")}
    if operation.answer is SessionAnswer and status == HTTPStatus.CREATED:
        answer["headers"]["Location"] = _header_schema("The session, relative to this request.")
    if operation.keyed:
        replayed = "`true` where the key had been used before, and nothing was done now."
        answer.setdefault("headers", {})[REPLAYED] = _header_schema(replayed)
    return answer


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
