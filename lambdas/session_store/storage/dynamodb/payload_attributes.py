"""Payloads as attributes of items, and back.

A payload is stored as JSON text: one attribute, with every digit as it came, and without the overhead of a
map. A payload too large for an item is a map of its size and hash; its text is in the payload bucket.
"""

from typing import Final

from session_store.domain.json_values import JsonValue, decode_stored, encode
from session_store.domain.payload import BYTES, SHA256, StoredPayload, payload_reference

NULL: Final = "null"
"""The JSON text in place of a payload that an item does not have."""


def payload_attribute(payload: JsonValue | StoredPayload) -> JsonValue:
    if isinstance(payload, StoredPayload):
        return payload_reference(size=payload.size, sha256=payload.sha256)
    return encode(payload).decode()


def payload_from(stored: JsonValue) -> JsonValue | StoredPayload:
    """The payload of a stored text, or the ``StoredPayload`` of a stored map."""
    if isinstance(stored, str):
        return decode_stored(stored)
    return StoredPayload(size=stored[BYTES], sha256=stored[SHA256])
