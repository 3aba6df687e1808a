"""Payloads as attributes of an item, and back: JSON text, or what tells of a text that lies elsewhere."""

from session_store.domain.json_values import JsonValue, decode_stored, encode
from session_store.domain.payload import BYTES, SHA256, StoredPayload, told


def payload_attribute(payload: JsonValue | StoredPayload) -> JsonValue:
    if isinstance(payload, StoredPayload):
        return told(size=payload.size, sha256=payload.sha256)
    return encode(payload).decode()


def payload_from(stored: JsonValue) -> JsonValue | StoredPayload:
    """A text is the payload itself; a map tells of one that lies elsewhere."""
    if isinstance(stored, str):
        return decode_stored(stored)
    return StoredPayload(size=stored[BYTES], sha256=stored[SHA256])
