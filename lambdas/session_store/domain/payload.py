"""Payloads: the values that nothing changes in place, and what stands in an item for a large one."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from session_store.domain.json_values import JsonValue, encode

BYTES: Final = "bytes"
SHA256: Final = "sha256"
"""What a payload is told by where it is not shown: in an item, and in the audit."""


class StoredPayload(Struct, frozen=True, kw_only=True):
    """Stands for a value whose JSON text, of ``size`` bytes and this SHA-256 in hex, lies elsewhere."""

    size: int
    sha256: str


def payload_size(value: JsonValue | StoredPayload) -> int:
    """Bytes of the value's JSON text, wherever it lies."""
    return value.size if isinstance(value, StoredPayload) else len(encode(value))


def is_told(value: object) -> bool:
    """Whether the value only tells of another, by its size and hash."""
    return isinstance(value, Mapping) and set(value) == {BYTES, SHA256}


def told(*, size: int, sha256: str) -> dict[str, Any]:
    return {BYTES: size, SHA256: sha256}
