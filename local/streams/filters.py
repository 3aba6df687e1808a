"""Filter criteria of an event source mapping: which stream records are delivered to its function.

Rules: "Control which events Lambda sends to your function" and "Using event filtering with a DynamoDB event
source" (AWS Lambda Developer Guide); "Comparison operators for use in event patterns" and "Creating Amazon
EventBridge event patterns" (Amazon EventBridge User Guide). A record's images are DynamoDB JSON: a number
there is a string (``{"N": "101"}``), so ``numeric`` never matches it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from local.streams.values import OPERATORS, FilterError, Number, Test, build_test, operator_of

__all__ = ["EVERYTHING", "FilterCriteria", "FilterError", "filter_criteria"]

MAX_FILTERS: Final = 5
"""The default quota of a mapping."""

MAX_PATTERN_LENGTH: Final = 4096
"""In characters ("AWS::Lambda::EventSourceMapping Filter")."""

_OR: Final = "$or"
_ABSENT: Final = object()

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A field's array of accepted values: one match suffices."""

    tests: tuple[Test, ...]
    present: bool
    absent: bool

    def matches(self, value: object, *, path: Path, leaves: frozenset[Path]) -> bool:
        if self.absent and path not in leaves:
            return True
        return any(
            self.present or any(accepts(scalar) for accepts in self.tests) for scalar in _scalars(value)
        )


@dataclass(frozen=True, slots=True)
class _Fields:
    """An object: all its fields must match, and one alternative of each ``$or``."""

    fields: Mapping[str, "_Leaf | _Fields"]
    alternatives: tuple[tuple["_Fields", ...], ...]

    def matches(self, value: object, *, path: Path, leaves: frozenset[Path]) -> bool:
        """In an array, one element must match all of it."""
        return any(self._holds(element, path, leaves) for element in _elements(value))

    def _holds(self, element: object, path: Path, leaves: frozenset[Path]) -> bool:
        children = element if isinstance(element, Mapping) else {}
        return all(
            node.matches(children.get(name, _ABSENT), path=(*path, name), leaves=leaves)
            for name, node in self.fields.items()
        ) and all(
            any(option.matches(element, path=path, leaves=leaves) for option in options)
            for options in self.alternatives
        )


@dataclass(frozen=True, slots=True)
class FilterCriteria:
    """The patterns of a mapping. Without any, every record passes."""

    patterns: tuple[_Fields, ...] = ()

    def admits(self, record: Mapping[str, Any]) -> bool:
        """Return whether any pattern matches ``record``, which is in the form of Lambda's event."""
        if not self.patterns:
            return True
        leaves = frozenset(_leaf_paths(record))
        return any(pattern.matches(record, path=(), leaves=leaves) for pattern in self.patterns)


EVERYTHING: Final = FilterCriteria()


def filter_criteria(criteria: Mapping[str, Any]) -> FilterCriteria:
    """Parse a template's ``{"Filters": [{"Pattern": "<JSON>"}]}``.

    Raises:
        FilterError
    """
    filters = criteria.get("Filters") or []
    if len(filters) > MAX_FILTERS:
        raise FilterError(f"a mapping has at most {MAX_FILTERS} filters, got {len(filters)}")
    return FilterCriteria(tuple(_pattern(place, entry) for place, entry in enumerate(filters)))


def _pattern(place: int, entry: Mapping[str, Any]) -> _Fields:
    at = f"filter {place + 1}"
    text = entry.get("Pattern")
    if not isinstance(text, str):
        raise FilterError(f"{at}: Pattern must be a string with JSON, got {text!r}")
    if len(text) > MAX_PATTERN_LENGTH:
        raise FilterError(f"{at}: {len(text)} characters are more than {MAX_PATTERN_LENGTH}")
    try:
        # As in Lambda, the last value of a duplicate key counts.
        pattern = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise FilterError(f"{at}: not JSON: {error}") from error
    return _fields(pattern, at=at)


def _no_constant(name: str) -> NoReturn:
    raise FilterError(f"{name} is not a JSON value")


def _fields(pattern: object, *, at: str) -> _Fields:
    if not isinstance(pattern, Mapping) or not pattern:
        raise FilterError(f"{at}: expected an object with at least one field")
    fields = {
        name: _node(child, at=f"{at}.{name}") for name, child in pattern.items() if not _is_or(name, child)
    }
    alternatives = tuple(
        tuple(_fields(option, at=f"{at}.{_OR}") for option in child)
        for name, child in pattern.items()
        if _is_or(name, child)
    )
    return _Fields(fields, alternatives)


def _is_or(name: str, child: object) -> bool:
    """Return whether this is an ``$or``: two or more objects without operators; else it is a field name."""
    return (
        name == _OR
        and isinstance(child, list)
        and len(child) > 1
        and all(isinstance(option, Mapping) and OPERATORS.isdisjoint(option) for option in child)
    )


def _node(child: object, *, at: str) -> _Leaf | _Fields:
    if isinstance(child, Mapping):
        return _fields(child, at=at)
    if not isinstance(child, list) or not child:
        raise FilterError(f"{at}: expected an object or a non-empty array")
    exists = [_exists(rule, at=at) for rule in child if isinstance(rule, Mapping) and "exists" in rule]
    return _Leaf(
        tests=tuple(
            build_test(rule, at=at) for rule in child if not (isinstance(rule, Mapping) and "exists" in rule)
        ),
        present=True in exists,
        absent=False in exists,
    )


def _exists(rule: Mapping[str, Any], *, at: str) -> bool:
    _, operand = operator_of(rule, at=at)
    if not isinstance(operand, bool):
        raise FilterError(f"{at}.exists: expected true or false, got {operand!r}")
    return operand


def _elements(value: object) -> Sequence[object]:
    """Return what an object of the pattern is matched with: the value, or an array's elements, flattened."""
    if not isinstance(value, list):
        return (value,)
    return tuple(inner for element in value for inner in _elements(element)) or (_ABSENT,)


def _scalars(value: object) -> Iterator[object]:
    """Yield the scalars of a value: an array's elements, flattened; none for an object or an absent value."""
    if isinstance(value, list):
        for element in value:
            yield from _scalars(element)
    elif value is not _ABSENT and not isinstance(value, Mapping):
        yield value


def _leaf_paths(value: object, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of scalars. For ``exists`` only these exist, not objects and empty arrays."""
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield from _leaf_paths(child, (*path, name))
    elif isinstance(value, list):
        for element in value:
            yield from _leaf_paths(element, path)
    else:
        yield path
