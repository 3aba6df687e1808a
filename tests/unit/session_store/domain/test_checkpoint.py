"""Namespaces, content hashes and retention of checkpoints."""

from decimal import Decimal
from typing import Any

import pytest

from session_store.domain.checkpoint import (
    SHORTEST_RETENTION,
    check_namespace,
    checkpoint_ttl,
    content_hash_of,
)
from session_store.domain.message import CLOCK_TOLERANCE_MS
from session_store.errors import InvalidRequestError
from session_store.schema import checkpoint_prefix, checkpoint_sk
from tests.support.samples import DAY, NOW_MS, NOW_SECONDS

NAMESPACES = ["", "a", "a#b", "a%23b", "a%", "a##", "#", "##", "%", "a:b|c", "x" * 128, "#" * 128, "..."]


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_namespace_is_empty_or_an_identifier(namespace: str) -> None:
    assert check_namespace(namespace, path="p") == namespace


@pytest.mark.parametrize("namespace", [" ", "a b", ".", "..", "ünï", "a\n", "\x00", "x" * 129])
def test_what_is_no_namespace_is_refused(namespace: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        check_namespace(namespace, path="p")
    assert refused.value.facts["path"] == "p"


def test_no_key_of_a_namespace_is_within_another() -> None:
    keys = {namespace: checkpoint_sk(namespace, "id") for namespace in NAMESPACES}
    for namespace in NAMESPACES:
        prefix = checkpoint_prefix(namespace)
        assert [other for other, key in keys.items() if key.startswith(prefix)] == [namespace]


@pytest.mark.parametrize(
    ("retain", "ends"),
    [
        (None, NOW_SECONDS + DAY),
        (900, NOW_SECONDS + 900),
        (DAY, NOW_SECONDS + DAY),
        (DAY + 1, NOW_SECONDS + DAY),
    ],
)
def test_no_checkpoint_outlives_its_session(retain: int | None, ends: int) -> None:
    assert checkpoint_ttl(NOW_MS, retain_seconds=retain, max_expires_at=NOW_SECONDS + DAY) == ends


def test_an_id_is_never_new_again_when_its_checkpoint_has_ended() -> None:
    """The worst case: an id as far ahead of the clock as allowed, and a ttl cut to the whole second."""
    assert SHORTEST_RETENTION * 1000 - 999 > 2 * CLOCK_TOLERANCE_MS


@pytest.mark.parametrize(
    "other",
    [
        {"data": {"a": Decimal("1.51"), "b": 2}},
        {"parent_id": "other"},
        {"parent_id": None},
        {"retain_seconds": None},
        {"retain_seconds": 901},
    ],
)
def test_another_content_has_another_hash(other: dict[str, Any]) -> None:
    content: dict[str, Any] = {
        "data": {"a": Decimal("1.5"), "b": 2},
        "parent_id": "parent",
        "retain_seconds": 900,
    }
    assert content_hash_of(**content) != content_hash_of(**{**content, **other})
    reordered = {**content, "data": {"b": 2, "a": Decimal("1.5")}}
    assert content_hash_of(**reordered) == content_hash_of(**content)
