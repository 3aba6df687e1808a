"""Values as attribute values, and their sizes as DynamoDB counts them."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from session_store.storage.dynamodb.codec import from_attribute, from_item, item_size, to_attribute, to_item
from tests.support.json_strategies import VALUES


@given(VALUES)
def test_a_value_comes_back_equal_and_of_the_same_type(value: Any) -> None:
    assert repr(value) == repr(from_attribute(to_attribute(value)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("-7", -7),
        ("0.10", Decimal("0.1")),
        ("1.0", 1),
        ("1E+3", 1000),
        ("9007199254740993", 9007199254740993),
        ("1E-130", Decimal("1E-130")),
    ],
)
def test_a_number_is_read_in_its_one_form(text: str, expected: int | Decimal) -> None:
    assert repr(expected) == repr(from_attribute({"N": text}))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Decimal("0E-500"), "0"),
        (Decimal("-0.0"), "0"),
        (Decimal("1." + "0" * 50), "1"),
        (Decimal("19.90"), "19.90"),
    ],
)
def test_a_number_is_written_without_zeros_past_the_limits(number: Decimal, text: str) -> None:
    assert to_attribute(number) == {"N": text}


def test_a_value_is_spelled_in_dynamodbs_types() -> None:
    value = {"a": [None, True, ""], "b": (1, Decimal("0.1"))}
    assert to_attribute(value) == {
        "M": {
            "a": {"L": [{"NULL": True}, {"BOOL": True}, {"S": ""}]},
            "b": {"L": [{"N": "1"}, {"N": "0.1"}]},
        }
    }


@pytest.mark.parametrize("value", [1.5, b"a", {1}, object()])
def test_what_is_no_json_value_is_not_stored(value: Any) -> None:
    with pytest.raises(TypeError):
        to_attribute(value)


@pytest.mark.parametrize("attribute", [{"B": b"a"}, {"SS": ["a"]}, {"NS": ["1"]}, {"N": "1E+200"}])
def test_what_this_store_never_writes_is_not_read(attribute: Any) -> None:
    with pytest.raises(TypeError):
        from_attribute(attribute)


@given(VALUES)
def test_an_item_keeps_its_names(value: Any) -> None:
    assert from_item(to_item({"pk": "a", "ünï": value})) == {"pk": "a", "ünï": value}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", 0),
        ("abc", 3),
        ("é", 2),
        ("😀", 4),
        (None, 1),
        (True, 1),
        (False, 1),
        (1, 2),
        (12, 2),
        (123, 3),
        (1234, 3),
        (100, 2),
        (-12, 3),
        (Decimal("0.05"), 2),
        (Decimal("12.34"), 3),
        (int("9" * 38), 20),
        ([], 3),
        ({}, 3),
        (["a", 12], 3 + 1 + 1 + 1 + 2),
        ({"ab": "cd", "e": None}, 3 + (1 + 2 + 2) + (1 + 1 + 1)),
        ([[]], 3 + 1 + 3),
        ({"a": {"b": [1]}}, 3 + 1 + 1 + (3 + 1 + 1 + (3 + 1 + 2))),
    ],
)
def test_a_size_is_what_the_documentation_counts(value: Any, expected: int) -> None:
    """Text: its UTF-8. Number: a byte for two significant digits, and one. Map, list: 3, and 1 an entry."""
    assert item_size(to_item({"name": value})) == len("name") + expected


def test_an_item_is_the_sum_of_names_and_values() -> None:
    assert item_size(to_item({"pk": "session#1", "sk": "metadata", "ünï": 1})) == 2 + 9 + 2 + 8 + 5 + 2
