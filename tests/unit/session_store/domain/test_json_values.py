"""JSON values come back equal and exact, or are refused with their path."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session_store.domain.json_values import (
    canonical,
    check,
    decode_stored,
    digest,
    encode,
    parse,
)
from session_store.errors import SHOWN, InvalidRequestError
from tests.support.json_strategies import NUMBERS, VALUES, respelled


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def refusal(text: bytes | str, *, path: str = "$") -> InvalidRequestError:
    with pytest.raises(InvalidRequestError) as refused:
        parse(text, path=path)
    return refused.value


@given(VALUES)
def test_a_value_comes_back_equal_and_of_the_same_type(value: Any) -> None:
    assert repr(value) == repr(parse(encode(value)))


@given(VALUES)
def test_a_stored_value_comes_back_equal_and_of_the_same_type(value: Any) -> None:
    assert repr(value) == repr(decode_stored(encode(value).decode()))


@given(VALUES, st.data())
def test_one_value_has_one_digest_however_it_is_spelled(value: Any, data: st.DataObject) -> None:
    text = respelled(value, data.draw)
    assert canonical(value) == canonical(parse(text))
    assert digest(value) == digest(parse(text))


@given(NUMBERS, NUMBERS)
def test_two_numbers_have_two_digests(one: int | Decimal, other: int | Decimal) -> None:
    assert (one == other) == (digest(one) == digest(other))


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-120, max_value=1e120))
def test_no_number_becomes_a_float(number: float) -> None:
    value = parse(repr(number))
    assert type(value) in (int, Decimal)
    assert Decimal(repr(number)) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1", Decimal("0.1")),
        ("9007199254740993", 9007199254740993),
        ("1.0", Decimal(1)),
        ("1e0", Decimal(1)),
        ("-0", 0),
        ("-0.0", Decimal(0)),
        ("0e999", Decimal(0)),
        ("1.50", Decimal("1.5")),
        ("1e125", Decimal(10**125)),
        ("9.99e125", Decimal(999 * 10**123)),
        ("1e-130", Decimal("1e-130")),
        ("9" * 38, int("9" * 38)),
        ("0." + "9" * 38, Decimal("0." + "9" * 38)),
        ("9" * 38 + "0" * 88, int("9" * 38) * 10**88),
        ("999999999999999999", 999999999999999999),
        ("1000000000000000000", 1000000000000000000),
    ],
)
def test_a_number_within_the_limits_is_exact(text: str, expected: int | Decimal) -> None:
    assert repr(expected) == repr(parse(text))
    assert encode(parse(text)) == encode(int(expected) if expected == int(expected) else expected)


@pytest.mark.parametrize(
    "text",
    [
        "9" * 39,
        "0." + "9" * 39,
        "1." + "0" * 37 + "1",
        "1" + "0" * 37 + "1",
        "1e126",
        "-1e126",
        "1" + "0" * 126,
        "1e999",
        "1e99999999999999999999",
        "1e-131",
        "1e-99999999999999999999",
        "1" * 5000,
        "-" + "1" * 5000,
        "NaN",
        "Infinity",
        "-Infinity",
    ],
)
def test_a_number_out_of_the_limits_is_refused_with_its_path(text: str) -> None:
    assert refusal(text).facts["path"] == "$"
    assert refusal(f'{{"a": [1, {{"b": {text}}}]}}').facts["path"] == "$.a[1].b"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (r'"\ud800"', "$"),
        (r'{"a": ["\udc00 b"]}', "$.a[0]"),
        (r'{"\ud800": 1}', "$ (a key)"),
        (b'{"a": "\xed\xa0\x80"}', "$.a"),
    ],
)
def test_a_lone_surrogate_is_refused(text: bytes | str, path: str) -> None:
    assert refusal(text).facts["path"] == path


def test_a_surrogate_pair_is_one_character() -> None:
    assert parse(r'"\ud83d\ude00"') == "\U0001f600"


def test_a_duplicate_key_is_refused() -> None:
    assert refusal('{"a": 1, "a": 1}').facts["path"] == "$"
    assert refusal('{"x": [{"a": 1, "a": 2}]}').facts["path"] == "$.x[0]"


@pytest.mark.parametrize(
    "text",
    [
        b"\xff",
        b'"\xc3\x28"',
        b'{"a": "\xff"}',
        "",
        "{",
        '{"a": ',
        '{"a": 1',
        "[1,",
        '"a',
        "01",
        "1.",
        "+1",
        "tru",
        "{'a': 1}",
        "[1] 2",
        '"\x01"',
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000 + "]" * 100_000,
    ],
)
def test_what_is_no_json_is_refused(text: bytes | str) -> None:
    assert refusal(text, path="$.body").facts["path"] == "$.body"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_body_in_another_encoding_than_utf_8_is_refused(encoding: str) -> None:
    assert refusal('{"a": 1}'.encode(encoding)).facts["path"] == "$"


def test_31_levels_are_kept_and_32_are_refused() -> None:
    check(nested(31), path="$.state")
    with pytest.raises(InvalidRequestError) as refused:
        check(nested(32), path="$.state")
    assert refused.value.facts["path"] == "$.state" + "[0]" * 31


def test_31_levels_of_maps_are_kept_and_32_are_refused() -> None:
    value: Any = {}
    for _ in range(30):
        value = {"k": value}
    check(value, path="$")
    with pytest.raises(InvalidRequestError) as refused:
        check({"k": value}, path="$")
    assert refused.value.facts["path"] == "$" + ".k" * 31


def test_a_document_may_wrap_a_value_in_three_levels_more() -> None:
    assert parse(encode(nested(34))) == nested(34)
    assert "Nested deeper" in refusal(encode(nested(35))).detail


def test_the_path_of_a_deep_value_stays_short() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        check({"k" * 300: nested(31)}, path="$")
    assert len(str(refused.value.facts["path"])) == SHOWN + len("...")


def test_an_empty_key_is_refused_where_a_map_is_stored_as_one() -> None:
    value = {"a": [{"": 1}]}
    check(value, path="$")
    with pytest.raises(InvalidRequestError) as refused:
        check(value, path="$", empty_keys=False)
    assert refused.value.facts["path"] == "$.a[0]"


@given(VALUES)
def test_a_value_that_is_parsed_is_a_value_that_is_stored(value: Any) -> None:
    check(parse(encode(value)), path="$")


@pytest.mark.parametrize(
    "value", [1.5, b"a", {1}, (1,), Decimal("NaN"), Decimal("Infinity"), 10**38 + 1, 10**126, "\udc00"]
)
def test_what_is_no_json_value_is_refused(value: object) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        check({"a": [value]}, path="$")
    assert refused.value.facts["path"] == "$.a[0]"


def test_canonical_json_sorts_keys_and_has_no_white_space() -> None:
    assert canonical(parse(' {"b": [1.0, 2e0], "a": {"d": null, "c": "é"}} ')) == (
        '{"a":{"c":"é","d":null},"b":[1,2]}'.encode()
    )


def test_stored_json_never_holds_a_constant() -> None:
    with pytest.raises(ValueError, match="NaN"):
        decode_stored("[NaN]")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal("19.90"), Decimal("19.9")),
        (Decimal("1.0"), 1),
        (Decimal("1E+2"), 100),
        (Decimal("-0.00"), 0),
        ({"a": [Decimal("2.50")]}, {"a": [Decimal("2.5")]}),
    ],
)
def test_a_program_may_write_a_number_in_any_form(one: Any, other: Any) -> None:
    assert digest(one) == digest(other)
