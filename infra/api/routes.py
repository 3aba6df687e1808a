"""The routes of the API, read from docs/openapi.json, which is generated from the code."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DOCUMENT: Final = Path(__file__).resolve().parent.parent.parent / "docs" / "openapi.json"
_METHODS: Final = frozenset({"get", "put", "post", "patch", "delete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    method: str
    path: str
    takes_body: bool
    """The document requires a request body."""

    is_open: bool
    """The document requires no caller."""


def routes(document: Path = DOCUMENT) -> Iterator[Route]:
    for path, operations in sorted(json.loads(document.read_text())["paths"].items()):
        for method, operation in sorted(operations.items()):
            if method in _METHODS:
                yield Route(
                    method=method.upper(),
                    path=path,
                    takes_body=bool(operation.get("requestBody", {}).get("required")),
                    is_open=operation.get("security") == [],
                )
