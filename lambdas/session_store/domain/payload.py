"""Payloads: values that are never changed in place, and references that replace large ones in items."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from session_store.domain.json_values import JsonValue, encode

BYTES: Final = "bytes"
SHA256: Final = "sha256"
"""Keys of a reference to a payload, in an item and in the audit."""


class StoredPayload(Struct, frozen=True, kw_only=True):
    """A value whose JSON text is stored elsewhere; ``size`` in bytes, ``sha256`` in hex, of that text."""

    size: int
    sha256: str


def payload_size(value: JsonValue | StoredPayload) -> int:
    """Bytes of the value's JSON text, wherever it is stored."""
    return value.size if isinstance(value, StoredPayload) else len(encode(value))


def is_payload_reference(value: object) -> bool:
    """Whether the value is a reference to a payload."""
    return isinstance(value, Mapping) and set(value) == {BYTES, SHA256}


def payload_reference(*, size: int, sha256: str) -> dict[str, Any]:
    """What replaces a payload that is not shown: its size in bytes and its SHA-256 in hex."""
    return {BYTES: size, SHA256: sha256}
