"""How much of a session's state one request may carry."""

from collections.abc import Mapping
from typing import Final

from session_store.domain.json_values import JsonValue, check, encode
from session_store.domain.state_operations import StateOperations
from session_store.errors import InvalidRequestError, PayloadTooLargeError

STATE_LIMIT: Final = 64 * 1024
"""Bytes of state, as JSON, that one request may carry."""


def check_map(value: Mapping[str, JsonValue], *, path: str) -> None:
    """Check the values, the keys and the size of a state.

    Raises:
        InvalidRequestError: no map, an empty key, or what could not be read back equal; names the path.
        PayloadTooLargeError
    """
    if not isinstance(value, dict):
        raise InvalidRequestError("Must be a map", path=path)
    check(value, path=path, empty_keys=False)
    _check_size(value, path=path)


def check_operations_size(operations: StateOperations, *, at: str = "$") -> None:
    """Check the size of what operations bring to a state. ``at``: their path.

    Raises:
        PayloadTooLargeError: more than ``STATE_LIMIT``; names the paths of those that are there.
    """
    parts = {name: getattr(operations, name) for name in ("set", "remove", "increment", "append")}
    path = ", ".join(f"{at}.{name}" for name, part in parts.items() if part)
    _check_size(list(parts.values()), path=path)


def _check_size(value: object, *, path: str) -> None:
    size = len(encode(value))
    if size > STATE_LIMIT:
        detail = f"At most {STATE_LIMIT} bytes of JSON in one request (at {path})"
        raise PayloadTooLargeError(detail, path=path, limit=STATE_LIMIT, size=size)
