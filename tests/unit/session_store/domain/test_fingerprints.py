"""What a fingerprint covers, and what leaves it as it is."""

from decimal import Decimal
from typing import Any

import pytest

from session_store.domain.fingerprints import fingerprint, present_members


def test_a_member_that_is_added_later_leaves_the_fingerprints_of_requests_without_it() -> None:
    before = present_members({"queue": "q"}, {"dueAt": (5, None)})
    after = present_members({"queue": "q"}, {"dueAt": (5, None), "priority": ("normal", "normal")})
    assert fingerprint("task", after) == fingerprint("task", before)


def test_a_member_that_differs_from_its_default_makes_another_request() -> None:
    without = present_members({"queue": "q"}, {"priority": ("normal", "normal")})
    urgent = present_members({"queue": "q"}, {"priority": ("urgent", "normal")})
    assert fingerprint("task", urgent) != fingerprint("task", without)


@pytest.mark.parametrize(
    ("value", "default"),
    [(True, 1), (False, 0), (1, True), (0, None), (False, None), ("", None), ([], None), ({}, None)],
)
def test_a_value_is_left_out_only_where_it_is_the_default_in_json(value: Any, default: Any) -> None:
    assert present_members({}, {"x": (value, default)}) == {"x": value}


@pytest.mark.parametrize("default", [None, True, 1, Decimal("0.5"), "", [], {}])
def test_a_default_spelled_out_makes_no_difference(default: Any) -> None:
    assert present_members({"a": 1}, {"x": (default, default)}) == {"a": 1}


def test_a_required_member_is_covered_whatever_its_value() -> None:
    assert present_members({"input": None}) == {"input": None}


def test_members_count_by_name_and_in_no_order() -> None:
    one, two = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert fingerprint("k", one) == fingerprint("k", two)
    assert fingerprint("k", {"a": 2, "b": 1}) != fingerprint("k", one)


def test_requests_of_two_kinds_never_share_a_fingerprint() -> None:
    assert fingerprint("task-completed", {}) != fingerprint("task-failed", {})
