"""How much of a session's state one request may carry."""

from collections.abc import Mapping
from typing import Final

from session_store.domain.json_values import JsonValue, check, encode
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
    check_size(value)


def check_size(value: object) -> None:
    """Check the size of what a request brings to a state.

    Raises:
        PayloadTooLargeError: more than ``STATE_LIMIT``.
    """
    size = len(encode(value))
    if size > STATE_LIMIT:
        detail = f"At most {STATE_LIMIT} bytes of state in one request"
        raise PayloadTooLargeError(detail, limit=STATE_LIMIT, size=size)
