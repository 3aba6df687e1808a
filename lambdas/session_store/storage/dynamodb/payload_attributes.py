"""Payloads as attributes of items, and back.

What nothing changes in place is kept as JSON text: one attribute, every digit as it
came, and no cost for a map's structure. What is too large for that is a map of its
size and hash, and lies in the payload bucket.
"""

from typing import Final

from session_store.domain.json_values import JsonValue, decode_stored, encode
from session_store.domain.payload import BYTES, SHA256, StoredPayload, told

NULL: Final = "null"
"""The JSON text of a payload that an item does not have."""


def payload_attribute(payload: JsonValue | StoredPayload) -> JsonValue:
    if isinstance(payload, StoredPayload):
        return told(size=payload.size, sha256=payload.sha256)
    return encode(payload).decode()


def payload_from(stored: JsonValue) -> JsonValue | StoredPayload:
    """A text is the payload itself; a map tells of one that lies elsewhere."""
    if isinstance(stored, str):
        return decode_stored(stored)
    return StoredPayload(size=stored[BYTES], sha256=stored[SHA256])
