"""JSON values that are read back equal and exact.

Numbers never pass through doubles: an integer literal is an ``int``, any other number the ``Decimal`` of its
text in one normal form (``1.0`` is written ``1``). Refused, with their path: numbers that DynamoDB cannot
hold (38 significant digits, magnitudes 1E-130 to 9.99E+125; *Service, account, and table quotas*, "Numbers"),
NaN, Infinity, lone surrogates, duplicate keys, nesting past 31 levels, and in Python every other type.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
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
SAFE_INTEGER: Final = 10**SAFE_INTEGER_DIGITS

TOO_DEEP: Final = f"Nested deeper than {MAX_DEPTH} levels"

JsonValue = Any
"""``None | bool | int | Decimal | str | list | dict`` all the way down."""

_EXACT: Final = Context(prec=2 * MAX_DIGITS, Emax=999_999, Emin=-999_999)
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
_PLAIN: Final = frozenset({str, int, bool, type(None)})
"""Types that are one text in JSON, without a walk."""

_CANONICAL: Final = msgspec.json.Encoder(decimal_format="number", order="sorted")


class _Flaw(Struct, frozen=True):
    """Why a value cannot be stored. ``path``: where in it, told on the way back from the flaw."""

    reason: str
    path: str = ""

    def below(self, step: str) -> "_Flaw":
        return _Flaw(self.reason, f"{step}{self.path}")


def _number(text: str) -> Decimal | _Flaw:
    """A number with a point or an exponent: always a ``Decimal``, even when it is whole."""
    number = _exact(text)
    return Decimal(number) if isinstance(number, int) else number


def _exact(text: str) -> int | Decimal | _Flaw:
    try:
        return normal_number(Decimal(text))
    except InvalidOperation:
        return _Flaw("number out of range")


def normal_number(value: Decimal) -> int | Decimal | _Flaw:
    """The one form of a number: ``int`` when whole, else a ``Decimal`` without trailing zeros."""
    flaw = _number_flaw(value)
    if flaw is not None:
        return flaw
    exact = value.normalize(_EXACT)
    return int(exact) if exact == exact.to_integral_value(context=_EXACT) else exact


def _number_flaw(value: int | Decimal) -> _Flaw | None:
    """Why DynamoDB cannot hold a number, if it cannot."""
    if isinstance(value, int) and -SAFE_INTEGER < value < SAFE_INTEGER:
        return None
    number = Decimal(value) if isinstance(value, int) else value
    if not number.is_finite():
        return _Flaw("not a JSON number")
    if number and not MIN_EXPONENT <= number.adjusted() <= MAX_EXPONENT:
        return _Flaw("number out of range (magnitude 1E-130 to 9.99E+125)")
    if len(str(number)) > MAX_DIGITS and _significant_digits(number) > MAX_DIGITS:
        return _Flaw(f"number with more than {MAX_DIGITS} significant digits")
    return None


def _significant_digits(number: Decimal) -> int:
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))


def _integer(text: str) -> int | Decimal | _Flaw:
    return int(text) if len(text) <= SAFE_INTEGER_DIGITS else _exact(text)


def _constant(text: str) -> _Flaw:
    return _Flaw(f"{text} is not JSON")


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue] | _Flaw:
    """A map, unless it has a duplicate key: one of the two values would be lost silently."""
    result = dict(pairs)
    return result if len(result) == len(pairs) else _Flaw("Duplicate key in one object")


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
        raise InvalidRequestError(TOO_DEEP, path=path) from error
    except json.JSONDecodeError as error:
        detail = f"Not valid JSON: {error.msg} at line {error.lineno} column {error.colno}"
        raise InvalidRequestError(detail, path=path) from error
    check(value, path=path, levels=MAX_DEPTH + ENVELOPE_DEPTH)
    return value


def check(value: JsonValue, *, path: str, levels: int = MAX_DEPTH, empty_keys: bool = True) -> None:
    """Refuse a value that the store cannot return equal and exact, or that is nested past ``levels``.

    DynamoDB maps have no empty keys ("Naming rules": at least one character), so a value that is stored as
    one is checked without ``empty_keys``. Values stored as JSON text may have them.

    Raises:
        InvalidRequestError: names the path of the first such value.
    """
    flaw = _flaw(value, levels, empty_keys=empty_keys)
    if flaw is not None:
        raise InvalidRequestError(flaw.reason, path=f"{path}{flaw.path}")


def check_key(key: str, *, path: str) -> None:
    """Refuse a key that a map in DynamoDB cannot have, as ``check``."""
    flaw = _key_flaw(key, empty_keys=False)
    if flaw is not None:
        raise InvalidRequestError(flaw.reason, path=path)


def _flaw(value: object, levels: int, *, empty_keys: bool) -> _Flaw | None:
    scalar_flaw = _SCALARS.get(type(value))
    if scalar_flaw is not None:
        return scalar_flaw(value)
    if not isinstance(value, dict | list):
        return value if isinstance(value, _Flaw) else _Flaw(f"{type(value).__name__} is not a JSON value")
    if not levels:
        return _Flaw(TOO_DEEP)
    if isinstance(value, dict):
        return _map_flaw(value, levels - 1, empty_keys=empty_keys)
    return _list_flaw(value, levels - 1, empty_keys=empty_keys)


def _no_flaw(_: object) -> None:
    """Nothing is wrong with any of them."""


def _text_flaw(value: str) -> _Flaw | None:
    if value.isascii():
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return _Flaw("Text with a lone surrogate")
    return None


_SCALARS: Final[Mapping[type, Callable[[Any], _Flaw | None]]] = {
    type(None): _no_flaw,
    bool: _no_flaw,
    str: _text_flaw,
    int: _number_flaw,
    Decimal: _number_flaw,
}
"""By exact type: a value of a subclass, such as an enumeration, would come back as one of its base."""


def _list_flaw(value: list[object], levels: int, *, empty_keys: bool) -> _Flaw | None:
    for position, child in enumerate(value):
        flaw = _flaw(child, levels, empty_keys=empty_keys)
        if flaw is not None:
            return flaw.below(f"[{position}]")
    return None


def _map_flaw(value: dict[object, object], levels: int, *, empty_keys: bool) -> _Flaw | None:
    for key, child in value.items():
        flaw = _key_flaw(key, empty_keys=empty_keys)
        if flaw is not None:
            return flaw
        flaw = _flaw(child, levels, empty_keys=empty_keys)
        if flaw is not None:
            return flaw.below(f".{key}")
    return None


def _key_flaw(key: object, *, empty_keys: bool) -> _Flaw | None:
    if type(key) is not str:
        return _Flaw(f"A key must be text, not {type(key).__name__}")
    if not key and not empty_keys:
        return _Flaw("A key must not be empty")
    flaw = _text_flaw(key)
    return None if flaw is None else flaw.below(" (a key)")


def encode(value: object) -> bytes:
    """Compact JSON, with decimals as number literals with all their digits."""
    return _ENCODER.encode(value)


def canonical(value: JsonValue) -> bytes:
    """The canonical JSON text of a value: keys sorted, no white space, numbers in one form.

    ``parse`` returns numbers in that form already. A ``Decimal`` that a program made, such as ``19.90``,
    may be in another.
    """
    return _CANONICAL.encode(_normalized(value))


def _normalized(value: JsonValue) -> JsonValue:
    """The value with its Decimals in normal form; what cannot be stored is left as it is."""
    if isinstance(value, Decimal):
        return _normal_decimal(value)
    if isinstance(value, dict):
        return {key: v if type(v) in _PLAIN else _normalized(v) for key, v in value.items()}
    if isinstance(value, list):
        return [v if type(v) in _PLAIN else _normalized(v) for v in value]
    return value


def _normal_decimal(value: Decimal) -> int | Decimal:
    text = str(value)
    # Whatever is not in normal form has an exponent or ends in a zero; most numbers do neither.
    if "E" not in text and not text.endswith("0"):
        return value
    number = normal_number(value)
    return value if isinstance(number, _Flaw) else number


def digest(value: JsonValue) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def decode_stored(text: str) -> JsonValue:
    """A value that ``encode`` wrote, with exact numbers."""
    return json.loads(text, parse_float=_number, parse_int=_integer, parse_constant=_never)


def _never(text: str) -> NoReturn:
    message = f"stored JSON holds {text}"
    raise ValueError(message)
