"""Tests of a single value of an event: the comparison operators of filter rules.

Rules: "Control which events Lambda sends to your function" (AWS Lambda Developer Guide) lists the operators,
"Comparison operators for use in event patterns" (Amazon EventBridge User Guide) defines them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

Test = Callable[[Any], bool]
"""Tests one scalar of an event: a string, a number, a boolean or None."""

NUMERIC_LIMIT: Final = Decimal("5.0e9")
"""Numeric comparison works from its negative to this, inclusive."""

_COMPARE: Final[Mapping[str, Callable[[Decimal, Decimal], bool]]] = {
    "=": lambda value, bound: value == bound,
    "<": lambda value, bound: value < bound,
    "<=": lambda value, bound: value <= bound,
    ">": lambda value, bound: value > bound,
    ">=": lambda value, bound: value >= bound,
}
_LOWER: Final = (">", ">=")
_UPPER: Final = ("<", "<=")


class FilterError(ValueError):
    """Lambda would refuse the filter pattern; the message has the path and what is allowed."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written: an exact match treats 300, 300.0 and 3.0e2 as different values."""

    text: str


def build_test(rule: object, *, at: str) -> Test:
    """Build the test of one element of a pattern's array, other than ``exists``.

    Raises:
        FilterError
    """
    if isinstance(rule, Mapping):
        operator, operand = operator_of(rule, at=at)
        if operator not in _OPERATORS:
            raise FilterError(f"{at}: {operator!r} is not one of {', '.join(sorted(OPERATORS))}")
        return _OPERATORS[operator](operand, f"{at}.{operator}")
    if isinstance(rule, list):
        raise FilterError(f"{at}: expected a string, a number, true, false, null or an operator")
    expected = _text(rule)
    return lambda value: _text(value) == expected


def operator_of(rule: Mapping[str, Any], *, at: str) -> tuple[str, Any]:
    if len(rule) != 1:
        raise FilterError(f"{at}: expected one operator in the object, got {sorted(rule)}")
    return next(iter(rule.items()))


def _text(value: object) -> str:
    """Return a scalar's JSON text, which an exact match compares."""
    return value.text if isinstance(value, Number) else json.dumps(value)


def _prefix(operand: object, at: str) -> Test:
    if isinstance(operand, Mapping):
        start = _folded(operand, at).casefold()
        return lambda value: isinstance(value, str) and value.casefold().startswith(start)
    start = _string(operand, at)
    return lambda value: isinstance(value, str) and value.startswith(start)


def _suffix(operand: object, at: str) -> Test:
    if isinstance(operand, Mapping):
        end = _folded(operand, at).casefold()
        return lambda value: isinstance(value, str) and value.casefold().endswith(end)
    end = _string(operand, at)
    return lambda value: isinstance(value, str) and value.endswith(end)


def _equals_ignore_case(operand: object, at: str) -> Test:
    if not isinstance(operand, str):
        raise FilterError(f"{at}: expected a string, got {_printed(operand)}")
    expected = operand.casefold()
    return lambda value: isinstance(value, str) and value.casefold() == expected


def _anything_but(operand: object, at: str) -> Test:
    if isinstance(operand, Mapping):
        operator, nested = operator_of(operand, at=at)
        if operator not in _NEGATABLE:
            raise FilterError(f"{at}: {operator!r} is not one of {', '.join(sorted(_NEGATABLE))}")
        options = nested if isinstance(nested, list) else [nested]
        if not options:
            raise FilterError(f"{at}.{operator}: an empty list is not allowed")
        refused = [_NEGATABLE[operator](option, f"{at}.{operator}") for option in options]
        return lambda value: not any(refuses(value) for refuses in refused)
    values = operand if isinstance(operand, list) else [operand]
    all_strings = all(isinstance(value, str) for value in values)
    all_numbers = all(isinstance(value, Number) for value in values)
    if not values or not (all_strings or all_numbers):
        raise FilterError(f"{at}: expected a string, a number, a list of strings or a list of numbers")
    texts = {_text(value) for value in values}
    return lambda value: _text(value) not in texts


def _numeric(operand: object, at: str) -> Test:
    """``operand`` is an operator and a number, or a lower bound followed by an upper one."""
    if not isinstance(operand, list) or len(operand) not in {2, 4}:
        raise FilterError(f"{at}: expected one or two pairs of operator and number")
    pairs = [
        (_comparison(operand[index], at), _bound(operand[index + 1], at))
        for index in range(0, len(operand), 2)
    ]
    if len(pairs) == 2:  # noqa: PLR2004 - a range has two ends
        (first, low), (second, high) = pairs
        if first not in _LOWER or second not in _UPPER:
            raise FilterError(f"{at}: a range must be > or >=, then < or <=")
        if low >= high:
            raise FilterError(f"{at}: the range from {low} to {high} is empty")
    return lambda value: _in_range(value, pairs)


def _in_range(value: object, pairs: Sequence[tuple[str, Decimal]]) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    number = Decimal(_text(value))
    return abs(number) <= NUMERIC_LIMIT and all(
        _COMPARE[operator](number, bound) for operator, bound in pairs
    )


def _comparison(operator: object, at: str) -> str:
    if not isinstance(operator, str) or operator not in _COMPARE:
        raise FilterError(f"{at}: {_printed(operator)} is not one of {', '.join(_COMPARE)}")
    return operator


def _bound(number: object, at: str) -> Decimal:
    if not isinstance(number, Number):
        raise FilterError(f"{at}: expected a number, got {_printed(number)}")
    bound = Decimal(number.text)
    if abs(bound) > NUMERIC_LIMIT:
        raise FilterError(f"{at}: {number.text} is not between -5.0e9 and 5.0e9")
    return bound


def _folded(operand: Mapping[str, Any], at: str) -> str:
    operator, nested = operator_of(operand, at=at)
    if operator != "equals-ignore-case":
        raise FilterError(f"{at}: {operator!r} is not equals-ignore-case")
    return _string(nested, f"{at}.{operator}")


def _string(operand: object, at: str) -> str:
    if not isinstance(operand, str) or not operand:
        raise FilterError(f"{at}: expected a non-empty string, got {_printed(operand)}")
    return operand


def _printed(value: object) -> str:
    return value.text if isinstance(value, Number) else repr(value)


_NEGATABLE: Final[Mapping[str, Callable[[object, str], Test]]] = {
    "prefix": _prefix,
    "suffix": _suffix,
    "equals-ignore-case": _equals_ignore_case,
}
_OPERATORS: Final[Mapping[str, Callable[[object, str], Test]]] = {
    **_NEGATABLE,
    "anything-but": _anything_but,
    "numeric": _numeric,
}
OPERATORS: Final = frozenset({*_OPERATORS, "exists"})
