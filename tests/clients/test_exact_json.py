"""A value sent through the client comes back equal, or is refused before it is sent."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session_store_client.answers import Session
from session_store_client.errors import UnreadableAnswerError
from session_store_client.exact_json import decode, encode

NUMBERS = (
    st.integers(-(10**38), 10**38)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False, places=12)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def exactly(value: Any) -> Any:
    """Convert every float and ``Decimal`` to the exact number it is written as."""
    if isinstance(value, list):
        return [exactly(each) for each in value]
    if isinstance(value, dict):
        return {key: exactly(each) for key, each in value.items()}
    if isinstance(value, float):
        return Decimal(repr(value))
    return value


@given(VALUES, st.booleans())
def test_every_value_comes_back_with_all_its_digits(value: Any, decimals: bool) -> None:  # noqa: FBT001 - drawn
    back: Any = decode(encode({"v": value}), dict, decimals=decimals)
    assert exactly(back["v"]) == exactly(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_comes_back_as_the_same_float(value: float) -> None:
    back: Any = decode(encode([value]), list, decimals=False)
    assert back == [value]


def test_a_number_that_no_float_holds_is_a_decimal() -> None:
    text = b"[0.1, 0.12345678901234567890, 1e400, 9007199254740993, 12345678901234567890123]"
    back: Any = decode(text, list, decimals=False)
    assert [type(each) for each in back] == [float, Decimal, Decimal, int, int]
    assert back[1:] == [
        Decimal("0.12345678901234567890"),
        Decimal("1e400"),
        9007199254740993,
        12345678901234567890123,
    ]


def test_with_decimals_every_fraction_is_one() -> None:
    back: Any = decode(b"[0.1, 1]", list, decimals=True)
    assert (back, type(back[0])) == ([Decimal("0.1"), 1], Decimal)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [float("nan")]}, "$.a[0]"),
        ({"a": float("-inf")}, "$.a"),
        ({"a": Decimal("NaN")}, "$.a"),
        ({"a": {"b": datetime.now(UTC)}}, "$.a.b"),
        ({"a": b"bytes"}, "$.a"),
        ({"a": {1, 2}}, "$.a"),
        ({"a": {1: 2}}, "$.a"),
        ({"a": ["\ud800"]}, "$.a[0]"),
        ({"a": {"b\udfff": 1}}, "$.a.b?"),
    ],
)
def test_a_value_that_is_no_json_is_refused_with_its_path(value: object, path: str) -> None:
    with pytest.raises(ValueError, match="JSON") as raised:
        encode(value)
    assert f"(at {path})" in str(raised.value)


def test_a_tuple_is_sent_as_a_list() -> None:
    assert json.loads(encode({"a": (1, 2)})) == {"a": [1, 2]}


@pytest.mark.parametrize("text", [b"", b"{", b"{}", b"[]", b"\xff", b'{"sessionId": 1}'])
def test_another_shape_is_no_answer(text: bytes) -> None:
    with pytest.raises(UnreadableAnswerError):
        decode(text, Session, decimals=False)
