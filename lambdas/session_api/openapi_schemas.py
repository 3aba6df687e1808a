"""The component schemas of the OpenAPI document."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from session_api.answers import Answer
from session_api.bodies import Body
from session_api.source_texts import docstring, field_texts

REF: Final = "#/components/schemas/{name}"
PROBLEM: Final[dict[str, Any]] = {
    "title": "Problem",
    "description": (
        "A refusal (RFC 9457). Further members are facts, such as `currentVersion`, `path` or `limit`."
    ),
    "type": "object",
    "properties": {
        "type": {"type": "string", "description": "`/problems/<slug>`: what a program decides by."},
        "title": {"type": "string", "description": "The slug in words."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {"type": "string", "description": "What is wrong, and what is allowed, for a person."},
        "instance": {"type": "string", "description": "The id of the request, under which the log has it."},
    },
    "required": ["type", "title", "status", "detail", "instance"],
    "additionalProperties": True,
}


def reference(kind: type) -> dict[str, Any]:
    """The schema of a body or an answer: a component, or any object for a plain map."""
    return {"type": "object"} if kind is dict else {"$ref": REF.format(name=kind.__name__)}


def component_schemas(kinds: Iterable[type | None]) -> dict[str, Any]:
    """The schemas of the structs among ``kinds``, and of those that they refer to, by name."""
    structs = sorted({kind for kind in kinds if kind not in (None, dict)}, key=lambda kind: kind.__name__)
    _, schemas = msgspec.json.schema_components(structs, ref_template=REF)
    by_name = {struct.__name__: struct for base in (Answer, Body) for struct in _subclasses(base)}
    for name, schema in schemas.items():
        _describe(schema, by_name[name])
    return {**dict(sorted(schemas.items())), "Problem": PROBLEM}


def _describe(schema: dict[str, Any], struct: type[msgspec.Struct]) -> None:
    schema["description"] = "\n\n".join(filter(None, docstring(struct)))
    texts = field_texts(struct)
    for field in msgspec.structs.fields(struct):
        if field.name in texts:
            schema["properties"][field.encode_name]["description"] = texts[field.name]


def _subclasses(base: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for struct in base.__subclasses__():
        yield struct
        yield from _subclasses(struct)
