"""JSON encoding and decoding that keep every digit of a number."""

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, TypeVar

import msgspec

from session_store_client.errors import UnreadableAnswerError

AnswerT = TypeVar("AnswerT")
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")


def encode(value: object) -> bytes:
    """Encode as compact JSON: a ``Decimal`` with all its digits, a ``float`` as its shortest repr.

    Raises:
        ValueError: it has something that is not a JSON value, such as NaN, a datetime or a lone surrogate;
            the message has the path. msgspec would encode a datetime as a string, which would not come back
            equal.
    """
    _check(value, "$")
    return _ENCODER.encode(value)


def decode(text: bytes, kind: type[AnswerT], *, decimals: bool) -> AnswerT:
    """Decode a JSON document as ``kind``. Whole numbers are ``int``, of any length.

    Other numbers are ``float``, or ``Decimal`` if a float would lose digits; with ``decimals`` always
    ``Decimal``.

    Raises:
        UnreadableAnswerError: not JSON, or not of this type.
    """
    try:
        value = json.loads(text, parse_float=Decimal if decimals else _nearest)
        return msgspec.convert(value, kind)
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswerError("The response does not match the API's contract") from error


def _nearest(text: str) -> float | Decimal:
    exact, near = Decimal(text), float(text)
    return near if math.isfinite(near) and Decimal(repr(near)) == exact else exact


def _check(value: object, path: str) -> None:
    if value is None or isinstance(value, bool | int):
        return
    if isinstance(value, str):
        _check_text(value, path)
        return
    if isinstance(value, float | Decimal):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a JSON number (at {path})")
        return
    for step, child in _children(value, path):
        _check(child, f"{path}{step}")


def _check_text(text: str, path: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"A lone surrogate is not JSON text (at {path})") from error


def _children(value: object, path: str) -> list[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        return [(f"[{position}]", child) for position, child in enumerate(value)]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        for key in value:
            _check_text(key, f"{path}.{key.encode(errors='replace').decode()}")
        return [(f".{key}", child) for key, child in value.items()]
    raise ValueError(f"{type(value).__name__} is not a JSON value (at {path})")
