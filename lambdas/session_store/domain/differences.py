"""What changed between two images of an item, path by path."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.json_values import JsonValue, canonical
from session_store.domain.payload import is_told, told

LARGEST_VALUE: Final = 1024
"""Bytes of JSON up to which a value is shown; a larger one is told by its size and SHA-256."""

LARGEST_TOTAL: Final = 256 * 1024
"""Bytes of JSON that the changes of one item may take as they are kept, well under DynamoDB's 400 KB."""


class Operation(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Difference(Struct, frozen=True, kw_only=True):
    """``path`` is a JSON Pointer (RFC 6901) from the item: ``/state/a.b/0``.

    ``old`` is None where the value was added, ``new`` where it was removed.
    """

    operation: Operation
    path: str
    old: JsonValue = None
    new: JsonValue = None


class Exposure(Struct, frozen=True, kw_only=True):
    """Which attributes are never shown, but told by size and hash alone.

    A payload that lies elsewhere is told so by its item already.
    """

    digested: frozenset[str]
    payloads: frozenset[str] = frozenset()

    def shows(self, path: str) -> bool:
        return _attribute(path) not in self.digested

    def is_told_already(self, path: str, value: JsonValue) -> bool:
        return _attribute(path) in self.payloads and is_told(value)


def _attribute(path: str) -> str:
    return path.split("/", 2)[1]


def differences(
    old: Mapping[str, JsonValue], new: Mapping[str, JsonValue], *, exposure: Exposure
) -> tuple[Difference, ...]:
    """Every path that differs, in the order of the paths.

    A map is compared key by key, a list position by position. What stands on one
    side only is one difference, however deep it is. Where all that would take more
    than an item can hold, the attributes are compared whole.
    """
    found = tuple(_shown(found, exposure) for found in _within("", old, new, exposure))
    if sum(map(_size, found)) <= LARGEST_TOTAL:
        return found
    nothing = replace(exposure, digested=frozenset({*old, *new}))
    return tuple(_shown(found, nothing) for found in _within("", old, new, nothing))


def _within(
    path: str, old: Mapping[str, JsonValue], new: Mapping[str, JsonValue], exposure: Exposure
) -> Iterator[Difference]:
    for key in sorted({*old, *new}):
        here = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
        if key not in new:
            yield Difference(operation=Operation.REMOVED, path=here, old=old[key])
        elif key not in old:
            yield Difference(operation=Operation.ADDED, path=here, new=new[key])
        else:
            yield from _between(here, old[key], new[key], exposure)


def _between(path: str, old: JsonValue, new: JsonValue, exposure: Exposure) -> Iterator[Difference]:
    if isinstance(old, Mapping) and isinstance(new, Mapping) and exposure.shows(path):
        yield from _within(path, old, new, exposure)
    elif isinstance(old, list) and isinstance(new, list) and exposure.shows(path):
        yield from _along(path, old, new, exposure)
    elif not _same(old, new):
        yield Difference(operation=Operation.CHANGED, path=path, old=old, new=new)


def _along(
    path: str, old: Sequence[JsonValue], new: Sequence[JsonValue], exposure: Exposure
) -> Iterator[Difference]:
    for position in range(max(len(old), len(new))):
        here = f"{path}/{position}"
        if position >= len(new):
            yield Difference(operation=Operation.REMOVED, path=here, old=old[position])
        elif position >= len(old):
            yield Difference(operation=Operation.ADDED, path=here, new=new[position])
        else:
            yield from _between(here, old[position], new[position], exposure)


def _same(old: JsonValue, new: JsonValue) -> bool:
    """Equality of JSON values; Python alone takes ``True`` for ``1``."""
    return canonical(old) == canonical(new)


def _shown(found: Difference, exposure: Exposure) -> Difference:
    return Difference(
        operation=found.operation,
        path=found.path,
        old=None if found.operation is Operation.ADDED else _told(found.path, found.old, exposure),
        new=None if found.operation is Operation.REMOVED else _told(found.path, found.new, exposure),
    )


def _told(path: str, value: JsonValue, exposure: Exposure) -> JsonValue:
    """The value, or its size and hash. A digested text is a payload, kept as JSON text: that very text's."""
    if exposure.is_told_already(path, value):
        return value
    shows = exposure.shows(path)
    text = value.encode() if isinstance(value, str) and not shows else canonical(value)
    if shows and len(text) <= LARGEST_VALUE:
        return value
    return told(size=len(text), sha256=hashlib.sha256(text).hexdigest())


def _size(found: Difference) -> int:
    """Names and punctuation count: of ten thousand numbers that change they are the most."""
    return len(canonical({"op": found.operation, "path": found.path, "old": found.old, "new": found.new}))
