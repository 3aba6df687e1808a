"""JSON values that are read back equal and exact.

Numbers never pass through doubles: an integer literal is an ``int``, any other number the ``Decimal`` of its
text in one normal form (``1.0`` is written ``1``). Refused, with their path: numbers that DynamoDB cannot
hold (38 significant digits, magnitudes 1E-130 to 9.99E+125; *Service, account, and table quotas*, "Numbers"),
NaN, Infinity, lone surrogates, duplicate keys and nesting past 31 levels.
"""

import hashlib
import json
from collections.abc import Iterator
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Final, NoReturn

import msgspec
from msgspec import Struct

from session_store.errors import InvalidRequestError

MAX_DEPTH: Final = 31
"""Levels of lists and maps in one value: one less than DynamoDB's 32, which the attribute itself takes."""

ENVELOPE_DEPTH: Final = 3
"""Levels that a request body may put around a value: body, list, entry."""

MAX_DIGITS: Final = 38
MAX_EXPONENT: Final = 125
MIN_EXPONENT: Final = -130
SAFE_INTEGER_DIGITS: Final = 18

JsonValue = Any
"""``None | bool | int | Decimal | str | list | dict`` all the way down."""

_EXACT: Final = Context(prec=2 * MAX_DIGITS, Emax=999_999, Emin=-999_999)
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
_CANONICAL: Final = msgspec.json.Encoder(decimal_format="number", order="sorted")


class _Refused(Struct, frozen=True):
    """Placeholder for a value that cannot be stored, until its path is known."""

    reason: str


def _number(text: str) -> Decimal | _Refused:
    """A number with a point or an exponent: always a ``Decimal``, even when it is whole."""
    number = _exact(text)
    return Decimal(number) if isinstance(number, int) else number


def _exact(text: str) -> int | Decimal | _Refused:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return _Refused("number out of range")
    return normal_number(value) if value.is_finite() else _Refused("not a JSON number")


def normal_number(value: Decimal) -> int | Decimal | _Refused:
    """The one form of a finite number: ``int`` when whole, else a ``Decimal`` without trailing zeros."""
    if value.is_zero():
        return 0
    if value.adjusted() > MAX_EXPONENT or value.adjusted() < MIN_EXPONENT:
        return _Refused("number out of range (magnitude 1E-130 to 9.99E+125)")
    digits = "".join(map(str, value.as_tuple().digits)).strip("0")
    if len(digits) > MAX_DIGITS:
        return _Refused(f"number with more than {MAX_DIGITS} significant digits")
    exact = value.normalize(_EXACT)
    return int(exact) if exact == exact.to_integral_value(context=_EXACT) else exact


def _integer(text: str) -> int | Decimal | _Refused:
    return int(text) if len(text) <= SAFE_INTEGER_DIGITS else _exact(text)


def _constant(text: str) -> _Refused:
    return _Refused(f"{text} is not JSON")


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue] | _Refused:
    """A map, unless it has a duplicate key: one of the two values would be lost silently."""
    result = dict(pairs)
    return result if len(result) == len(pairs) else _Refused("Duplicate key in one object")


def parse(text: bytes | str, *, path: str = "$") -> JsonValue:
    """One JSON document as exact Python values.

    Raises:
        InvalidRequestError: not UTF-8, not JSON, or a value that cannot be stored; names the path.
    """
    try:
        value = json.loads(
            text if isinstance(text, str) else text.decode(errors="surrogatepass"),
            parse_float=_number,
            parse_int=_integer,
            parse_constant=_constant,
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError as error:
        raise InvalidRequestError("The body is not UTF-8", path=path) from error
    except RecursionError as error:
        raise _too_deep(path) from error
    except json.JSONDecodeError as error:
        detail = f"Not valid JSON: {error.msg} at line {error.lineno} column {error.colno}"
        raise InvalidRequestError(detail, path=path) from error
    check(value, path=path)
    return value


def check(value: JsonValue, *, path: str) -> None:
    """Refuse a value that the store cannot return exactly as it came.

    Raises:
        InvalidRequestError: names the path of the first such value.
    """
    _check(value, path, 0)


def _check(value: JsonValue, path: str, depth: int) -> None:
    if isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, dict | list):
        if depth >= MAX_DEPTH + ENVELOPE_DEPTH:
            raise _too_deep(path)
        if isinstance(value, dict):
            for name in value:
                _check_text(name, f"{path} (a key)")
        for key, child in _children(value):
            _check(child, f"{path}{key}", depth + 1)
    elif value is not None and not isinstance(value, bool | int):
        _refuse_inexact(value, path)


def _children(value: dict[str, JsonValue] | list[JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, list):
        yield from ((f"[{position}]", child) for position, child in enumerate(value))
        return
    yield from ((f".{key}", child) for key, child in value.items())


def _check_text(value: str, path: str) -> None:
    if value.isascii():
        return
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidRequestError("Text with a lone surrogate", path=path) from error


def _refuse_inexact(value: object, path: str) -> None:
    if isinstance(value, Decimal) and value.is_finite():
        return
    reason = value.reason if isinstance(value, _Refused) else f"{type(value).__name__} is not a JSON value"
    raise InvalidRequestError(reason, path=path)


def encode(value: object) -> bytes:
    """Compact JSON, with decimals as number literals with all their digits."""
    return _ENCODER.encode(value)


def canonical(value: JsonValue) -> bytes:
    """The canonical JSON text of a value: keys sorted, no white space, numbers in one form."""
    return _CANONICAL.encode(value)


def digest(value: JsonValue) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def decode_stored(text: str) -> JsonValue:
    """A value that ``encode`` wrote, with exact numbers."""
    return json.loads(text, parse_float=_number, parse_int=_integer, parse_constant=_never)


def _never(text: str) -> NoReturn:
    message = f"stored JSON holds {text}"
    raise ValueError(message)


def check_nesting(value: JsonValue, *, path: str, empty_keys: bool = True) -> None:
    """Refuse a value nested past 31 levels and, unless ``empty_keys``, one with an empty key.

    DynamoDB maps have no empty keys ("Naming rules": at least one character). Values stored as JSON text may.

    Raises:
        InvalidRequestError: names the path.
    """
    pending = [(path, value, 1)]
    while pending:
        where, current, depth = pending.pop()
        if not isinstance(current, dict | list):
            continue
        if depth > MAX_DEPTH:
            raise _too_deep(where)
        if not empty_keys and isinstance(current, dict) and "" in current:
            raise InvalidRequestError("A key must not be empty", path=where)
        pending.extend((f"{where}{key}", child, depth + 1) for key, child in _children(current))


def _too_deep(path: str) -> InvalidRequestError:
    return InvalidRequestError(f"Nested deeper than {MAX_DEPTH} levels", path=path)
