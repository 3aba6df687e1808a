"""Operations on the keys of a state."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from session_store.domain.state_operations import (
    StateOperations,
    apply_operations,
    check_operations,
    sum_violation,
    type_violation,
)
from session_store.errors import InvalidRequestError
from tests.support.json_strategies import NUMBERS, WIDE


def refusal(operations: StateOperations) -> InvalidRequestError:
    with pytest.raises(InvalidRequestError) as refused:
        check_operations(operations)
    return refused.value


def keys(count: int) -> dict[str, int]:
    return {f"k{number}": number for number in range(count)}


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_set_and_remove_repeat_harmlessly_and_the_others_do_not() -> None:
    assert StateOperations(set={"a": 1}, remove=["b"]).repeats_harmlessly
    assert not StateOperations(increment={"a": 1}).repeats_harmlessly
    assert not StateOperations(set={"a": 1}, append={"b": [1]}).repeats_harmlessly


def test_50_keys_are_admitted_and_51_are_not() -> None:
    fifty = StateOperations(set=keys(47), remove=["a"], increment={"b": 1}, append={"c": [1]})
    assert check_operations(fifty) is fifty
    error = refusal(StateOperations(set=keys(48), remove=["a"], increment={"b": 1}, append={"c": [1]}))
    assert error.facts == {"path": "$", "limit": 50}


@pytest.mark.parametrize(
    ("operations", "path"),
    [
        (StateOperations(set={"k": 1}, remove=["k"]), "$.remove.k"),
        (StateOperations(set={"k": 1}, increment={"k": 1}), "$.increment.k"),
        (StateOperations(set={"k": 1}, append={"k": [1]}), "$.append.k"),
        (StateOperations(increment={"k": 1}, append={"k": [1]}), "$.append.k"),
        (StateOperations(remove=["k", "k"]), "$.remove.k"),
    ],
)
def test_a_key_may_be_in_only_one_operation(operations: StateOperations, path: str) -> None:
    assert refusal(operations).facts["path"] == path


@pytest.mark.parametrize(
    ("operations", "path"),
    [
        (StateOperations(), "$"),
        (StateOperations(set={"": 1}), "$.set"),
        (StateOperations(remove=[""]), "$.remove"),
        (StateOperations(increment={"": 1}), "$.increment"),
        (StateOperations(append={"": [1]}), "$.append"),
        (StateOperations(set={"a": {"": 1}}), "$.set.a"),
        (StateOperations(append={"a": [{"": 1}]}), "$.append.a[0]"),
        (StateOperations(increment={"k": True}), "$.increment.k"),
        (StateOperations(increment={"k": "1"}), "$.increment.k"),  # type: ignore[dict-item] # what callers send
        (StateOperations(increment={"k": None}), "$.increment.k"),  # type: ignore[dict-item] # likewise
        (StateOperations(append={"k": "text"}), "$.append.k"),
        (StateOperations(append={"k": {"a": 1}}), "$.append.k"),  # type: ignore[dict-item] # likewise
    ],
)
def test_what_cannot_be_done_is_refused_with_its_path(operations: StateOperations, path: str) -> None:
    assert refusal(operations).facts["path"] == path


@pytest.mark.parametrize("key", ["a.b", "status", "ttl", "pk", "size", "ünï", "#a", ":a", " ", "a[0]"])
def test_a_key_is_any_text(key: str) -> None:
    assert check_operations(StateOperations(set={key: 1})).set == {key: 1}
    assert apply_operations({}, StateOperations(set={key: 1})) == {key: 1}


def test_values_stay_within_the_levels_of_the_state() -> None:
    """The map of the state itself is the first of 31 levels."""
    check_operations(StateOperations(set={"k": nested(30)}))
    check_operations(StateOperations(append={"k": nested(30)}))
    assert "Nested deeper" in refusal(StateOperations(set={"k": nested(31)})).detail
    assert "Nested deeper" in refusal(StateOperations(append={"k": nested(31)})).detail


@pytest.mark.parametrize("value", ["text", True, None, [1], {"a": 1}])
def test_only_a_number_is_incremented(value: object) -> None:
    error = type_violation({"k": value}, StateOperations(increment={"k": 1}))
    assert error is not None
    assert error.facts["path"] == "$.increment.k"


@pytest.mark.parametrize("value", ["text", True, None, 1, Decimal("0.1"), {"a": 1}])
def test_only_a_list_is_appended_to(value: object) -> None:
    error = type_violation({"k": value}, StateOperations(append={"k": [1]}))
    assert error is not None
    assert error.facts["path"] == "$.append.k"


def test_absent_keys_and_right_types_are_no_violation() -> None:
    operations = StateOperations(increment={"n": 1, "d": 1, "new": 1}, append={"l": [1], "newer": [1]})
    assert type_violation({"n": 1, "d": Decimal("0.5"), "l": []}, operations) is None
    assert type_violation({"k": "text"}, StateOperations(set={"k": 1}, remove=["l"])) is None


def test_operations_are_applied_together() -> None:
    operations = StateOperations(
        set={"a": [1]}, remove=["b", "never"], increment={"c": 2, "n": -1}, append={"d": [2, [3]], "m": []}
    )
    state = {"a": 0, "b": 1, "c": 40, "d": [1], "e": None}
    assert apply_operations(state, operations) == {
        "a": [1],
        "c": 42,
        "n": -1,
        "d": [1, 2, [3]],
        "m": [],
        "e": None,
    }
    assert state == {"a": 0, "b": 1, "c": 40, "d": [1], "e": None}


@pytest.mark.parametrize(
    ("value", "amount", "expected"),
    [
        (Decimal("0.1"), Decimal("0.2"), Decimal("0.3")),
        (9007199254740993, 1, 9007199254740994),
        (Decimal("0.5"), Decimal("0.5"), 1),
        (1, -1, 0),
        (10**37, 1, 10**37 + 1),
        (10**125, 10**125, 2 * 10**125),
        (10**125, -(10**125), 0),
    ],
)
def test_a_sum_is_exact(value: Any, amount: Any, expected: Any) -> None:
    after = apply_operations({"k": value}, StateOperations(increment={"k": amount}))["k"]
    assert repr(expected) == repr(after)


@pytest.mark.parametrize(("value", "amount"), [(9 * 10**125, 10**125), (-9 * 10**125, -(10**125))])
def test_a_sum_out_of_range_is_refused(value: int, amount: int) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        apply_operations({"k": value}, StateOperations(increment={"k": amount}))
    assert refused.value.facts["path"] == "$.increment.k"


def test_the_sum_that_is_out_of_range_is_named() -> None:
    operations = StateOperations(increment={"a": 1, "text": 1, "new": 1, "b": 10**125, "c": 10**125})
    state = {"a": 9, "text": "x", "b": 9 * 10**125, "c": 9 * 10**125}
    assert sum_violation(state, operations, at="$.state").facts["path"] == "$.state.increment.b"
    assert sum_violation({}, operations, at="$.state").facts["path"] == "$.state.increment"


@given(NUMBERS, NUMBERS)
def test_a_sum_is_exact_or_refused(value: int | Decimal, amount: int | Decimal) -> None:
    expected = WIDE.add(Decimal(value), Decimal(amount))
    try:
        after = apply_operations({"k": value}, StateOperations(increment={"k": amount}))["k"]
    except InvalidRequestError as refused:
        assert refused.facts["path"] == "$.increment.k"  # noqa: PT017 - either outcome is right
        return
    assert expected == Decimal(after)
