from typing import Any

import pytest
from hypothesis import given

from session_store.domain.differences import (
    LARGEST_TOTAL,
    LARGEST_VALUE,
    Difference,
    Exposure,
    Operation,
    differences,
)
from session_store.domain.json_values import canonical, digest, encode
from tests.support.json_strategies import VALUES

OPEN = Exposure(digested=frozenset())
ADDED, REMOVED, CHANGED = Operation.ADDED, Operation.REMOVED, Operation.CHANGED


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[Operation, str, Any, Any]]:
    return [(each.operation, each.path, each.old, each.new) for each in differences(old, new, exposure=OPEN)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({}, {}, []),
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [(CHANGED, "/a", 1, 2)]),
        ({"a": 1}, {}, [(REMOVED, "/a", 1, None)]),
        ({}, {"a": None}, [(ADDED, "/a", None, None)]),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, [(CHANGED, "/a/b/c", 1, 2)]),
        ({"a": {}}, {"a": {"b": {"c": 1}}}, [(ADDED, "/a/b", None, {"c": 1})]),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}, [(ADDED, "/a/2", None, 3)]),
        ({"a": [1, 2]}, {"a": [1]}, [(REMOVED, "/a/1", 2, None)]),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, [(CHANGED, "/a/1/b", 2, 3)]),
        ({"a": [1]}, {"a": {"0": 1}}, [(CHANGED, "/a", [1], {"0": 1})]),
        ({"a": 1}, {"a": True}, [(CHANGED, "/a", 1, True)]),
        ({"a": 0}, {"a": False}, [(CHANGED, "/a", 0, False)]),
        ({"a": None}, {"a": ""}, [(CHANGED, "/a", None, "")]),
        ({"b": 1, "a": 1}, {"b": 2, "a": 2}, [(CHANGED, "/a", 1, 2), (CHANGED, "/b", 1, 2)]),
        ({"a/b": 1, "c~d": 1}, {"a/b": 2, "c~d": 2}, [(CHANGED, "/a~1b", 1, 2), (CHANGED, "/c~0d", 1, 2)]),
        ({"state": {"a.b": 1}}, {"state": {"a.b": 2}}, [(CHANGED, "/state/a.b", 1, 2)]),
    ],
)
def test_each_path_that_differs_is_reported(
    old: dict[str, Any], new: dict[str, Any], expected: list[tuple[Operation, str, Any, Any]]
) -> None:
    assert changes(old, new) == expected


def test_a_large_value_is_replaced_by_its_size_and_hash() -> None:
    small, large = "x" * (LARGEST_VALUE - 2), "x" * (LARGEST_VALUE - 1)
    assert changes({"a": small}, {"a": large}) == [
        (CHANGED, "/a", small, {"bytes": LARGEST_VALUE + 1, "sha256": digest(large)})
    ]


def test_a_digested_attribute_is_compared_whole_and_never_shown() -> None:
    exposure = Exposure(digested=frozenset({"content"}))
    found = differences({"content": {"a": 1}}, {"content": {"a": 2}}, exposure=exposure)
    assert found == (
        Difference(
            operation=CHANGED,
            path="/content",
            old={"bytes": 7, "sha256": digest({"a": 1})},
            new={"bytes": 7, "sha256": digest({"a": 2})},
        ),
    )


def test_a_reference_to_a_payload_is_shown_as_it_is() -> None:
    exposure = Exposure(digested=frozenset({"content", "state"}), payloads=frozenset({"content"}))
    reference = {"bytes": 400_000, "sha256": digest("x")}
    found = differences({}, {"content": reference, "state": reference}, exposure=exposure)
    assert [each.new for each in found] == [
        reference,
        {"bytes": len(canonical(reference)), "sha256": digest(reference)},
    ]


def test_a_value_that_is_no_reference_is_digested() -> None:
    exposure = Exposure(digested=frozenset({"content"}), payloads=frozenset({"content"}))
    for foreign in ({"bytes": 1}, {"bytes": 1, "sha256": "x", "text": "marker"}, "text", ["bytes", "sha256"]):
        (found,) = differences({}, {"content": foreign}, exposure=exposure)
        assert found.new.keys() == {"bytes", "sha256"}
        assert found.new != foreign


def test_more_than_an_item_can_hold_is_compared_attribute_by_attribute() -> None:
    old = {"state": {f"k{number}": "x" * 1000 for number in range(300)}, "other": 1}
    new = {"state": {f"k{number}": "y" * 1000 for number in range(300)}, "other": 2}
    found = differences(old, new, exposure=OPEN)
    assert [each.path for each in found] == ["/other", "/state"]
    assert sum(len(canonical([each.old, each.new])) for each in found) < LARGEST_TOTAL


@pytest.mark.parametrize("count", [3_000, 6_000, 12_000])
def test_however_many_small_values_change_an_item_holds_it(count: int) -> None:
    found = differences({"state": {"list": [0] * count}}, {"state": {"list": [1] * count}}, exposure=OPEN)
    kept = [{"op": each.operation, "path": each.path, "old": each.old, "new": each.new} for each in found]
    assert len(encode(kept)) < LARGEST_TOTAL + len(kept) + 2
    assert len(found) == (count if count == 3_000 else 1)


@given(VALUES, VALUES)
def test_nothing_differs_exactly_when_the_values_are_equal(old: Any, new: Any) -> None:
    found = differences({"a": old}, {"a": new}, exposure=OPEN)
    assert (found == ()) == (canonical(old) == canonical(new))


@given(VALUES, VALUES)
def test_swapping_the_images_swaps_the_differences(old: Any, new: Any) -> None:
    turned = {ADDED: REMOVED, REMOVED: ADDED, CHANGED: CHANGED}
    there = differences({"a": old}, {"a": new}, exposure=OPEN)
    back = differences({"a": new}, {"a": old}, exposure=OPEN)
    assert [(turned[each.operation], each.path, each.new, each.old) for each in there] == [
        (each.operation, each.path, each.old, each.new) for each in back
    ]
