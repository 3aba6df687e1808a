"""Payloads that are kept whole: message contents, tool inputs and outputs."""

from typing import Final

from session_store.domain.json_values import JsonValue, check_nesting, encode
from session_store.errors import PayloadTooLargeError

INLINE_LIMIT: Final = 300 * 1024
"""Bytes of JSON inside an item; the rest of DynamoDB's 400 KB is room for its other attributes."""


def check_payload(value: JsonValue, *, path: str) -> None:
    """Refuse what does not fit in an item.

    Raises:
        InvalidRequestError: nested too deep; names the path.
        PayloadTooLargeError: more than 300 KB of JSON.
    """
    check_nesting(value, path=path)
    size = len(encode(value))
    if size > INLINE_LIMIT:
        detail = f"At most {INLINE_LIMIT} bytes of JSON (at {path})"
        raise PayloadTooLargeError(detail, path=path, limit=INLINE_LIMIT, size=size)
