"""What changed between two images of an item, path by path."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.json_values import JsonValue, canonical
from session_store.domain.payload import is_payload_reference, payload_reference

LARGEST_VALUE: Final = 1024
"""Bytes of JSON up to which a value is shown; a larger one is replaced by its size and SHA-256."""

LARGEST_TOTAL: Final = 256 * 1024
"""Bytes of JSON that the stored changes of one item may take, well under DynamoDB's 400 KB."""


class Operation(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Difference(Struct, frozen=True, kw_only=True):
    """One value that differs. ``path`` is a JSON Pointer (RFC 6901) from the item: ``/state/a.b/0``.

    ``old`` is None where the value was added, ``new`` where it was removed.
    """

    operation: Operation
    path: str
    old: JsonValue = None
    new: JsonValue = None


class Exposure(Struct, frozen=True, kw_only=True):
    """What the audit may show: values of ``digested`` attributes are replaced by their size and hash.

    ``payloads`` are the attributes that may hold such a reference already, to an object in S3.
    """

    digested: frozenset[str]
    payloads: frozenset[str] = frozenset()

    def shows(self, path: str) -> bool:
        return _attribute(path) not in self.digested

    def is_reference(self, path: str, value: JsonValue) -> bool:
        return _attribute(path) in self.payloads and is_payload_reference(value)


def _attribute(path: str) -> str:
    return path.split("/", 2)[1]


def differences(
    old: Mapping[str, JsonValue], new: Mapping[str, JsonValue], *, exposure: Exposure
) -> tuple[Difference, ...]:
    """Every path that differs, in path order.

    Maps are compared key by key, lists position by position. A value on one side only is one difference,
    however deep it is. If the result would be larger than an item may be, attributes are compared whole.
    """
    shown = tuple(_shown(each, exposure) for each in _in_map("", old, new, exposure))
    if sum(map(_size, shown)) <= LARGEST_TOTAL:
        return shown
    digests = replace(exposure, digested=frozenset({*old, *new}))
    return tuple(_shown(each, digests) for each in _in_map("", old, new, digests))


def _in_map(
    path: str, old: Mapping[str, JsonValue], new: Mapping[str, JsonValue], exposure: Exposure
) -> Iterator[Difference]:
    for key in sorted({*old, *new}):
        here = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
        if key not in new:
            yield Difference(operation=Operation.REMOVED, path=here, old=old[key])
        elif key not in old:
            yield Difference(operation=Operation.ADDED, path=here, new=new[key])
        else:
            yield from _compare(here, old[key], new[key], exposure)


def _compare(path: str, old: JsonValue, new: JsonValue, exposure: Exposure) -> Iterator[Difference]:
    if isinstance(old, Mapping) and isinstance(new, Mapping) and exposure.shows(path):
        yield from _in_map(path, old, new, exposure)
    elif isinstance(old, list) and isinstance(new, list) and exposure.shows(path):
        yield from _in_list(path, old, new, exposure)
    elif not _same(old, new):
        yield Difference(operation=Operation.CHANGED, path=path, old=old, new=new)


def _in_list(
    path: str, old: Sequence[JsonValue], new: Sequence[JsonValue], exposure: Exposure
) -> Iterator[Difference]:
    for position in range(max(len(old), len(new))):
        here = f"{path}/{position}"
        if position >= len(new):
            yield Difference(operation=Operation.REMOVED, path=here, old=old[position])
        elif position >= len(old):
            yield Difference(operation=Operation.ADDED, path=here, new=new[position])
        else:
            yield from _compare(here, old[position], new[position], exposure)


def _same(old: JsonValue, new: JsonValue) -> bool:
    """Whether two JSON values are equal; Python's ``==`` takes ``True`` for ``1``."""
    return canonical(old) == canonical(new)


def _shown(difference: Difference, exposure: Exposure) -> Difference:
    path, operation = difference.path, difference.operation
    return Difference(
        operation=operation,
        path=path,
        old=None if operation is Operation.ADDED else _exposed(path, difference.old, exposure),
        new=None if operation is Operation.REMOVED else _exposed(path, difference.new, exposure),
    )


def _exposed(path: str, value: JsonValue, exposure: Exposure) -> JsonValue:
    """The value, or its size and hash. A digested string is a payload's JSON text, hashed as it is."""
    if exposure.is_reference(path, value):
        return value
    shows = exposure.shows(path)
    text = value.encode() if isinstance(value, str) and not shows else canonical(value)
    if shows and len(text) <= LARGEST_VALUE:
        return value
    return payload_reference(size=len(text), sha256=hashlib.sha256(text).hexdigest())


def _size(difference: Difference) -> int:
    """Bytes of a difference, names and punctuation included: for small values they are most of it."""
    facts = {
        "op": difference.operation,
        "path": difference.path,
        "old": difference.old,
        "new": difference.new,
    }
    return len(canonical(facts))
