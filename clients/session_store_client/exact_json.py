"""JSON in which no number loses a digit on its way out or back."""

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
    """Compact JSON: a ``Decimal`` is a number with all its digits, a ``float`` the shortest that names it.

    Raises:
        ValueError: something in it is no JSON value, such as NaN or a time; names its path. An encoder would
            send it as another value, and what comes back would not be equal.
    """
    _check(value, "$")
    return _ENCODER.encode(value)


def decode(text: bytes, kind: type[AnswerT], *, decimals: bool) -> AnswerT:
    """One JSON document as ``kind``. Whole numbers are ``int``, of any length.

    Any other is a ``float`` where that is the very number, and a ``Decimal`` where a float would lose digits;
    always a ``Decimal`` with ``decimals``.

    Raises:
        UnreadableAnswerError: not JSON, or of another shape.
    """
    try:
        value = json.loads(text, parse_float=Decimal if decimals else _nearest)
        return msgspec.convert(value, kind)
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswerError("The answer is not of the API's contract") from error


def _nearest(text: str) -> float | Decimal:
    exact, near = Decimal(text), float(text)
    return near if math.isfinite(near) and Decimal(repr(near)) == exact else exact


def _check(value: object, path: str) -> None:
    if value is None or isinstance(value, str | bool | int):
        return
    if isinstance(value, float | Decimal):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no JSON number (at {path})")
        return
    for place, child in _children(value, path):
        _check(child, f"{path}{place}")


def _children(value: object, path: str) -> list[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        return [(f"[{position}]", child) for position, child in enumerate(value)]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return [(f".{key}", child) for key, child in value.items()]
    raise ValueError(f"{type(value).__name__} is no JSON value (at {path})")
