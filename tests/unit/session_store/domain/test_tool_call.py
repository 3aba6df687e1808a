"""Fences rise, and claims stay."""

import pytest

from session_store.domain.tool_call import claim_ttl, next_fence
from tests.support.sessions import NOW
from tests.support.world import START


@pytest.mark.parametrize(
    ("previous", "expected"),
    [(None, START), (START - 1, START), (START, START + 1), (START + 10, START + 11)],
)
def test_a_fence_rises_past_the_one_before_and_past_the_clock(previous: int | None, expected: int) -> None:
    assert next_fence(previous, START) == expected


def test_a_claim_stays_with_its_session_and_at_least_a_day_after_its_lease() -> None:
    assert claim_ttl(session_ends=NOW + 86_399, lease_until_ms=START) == NOW + 86_400
    assert claim_ttl(session_ends=NOW + 86_401, lease_until_ms=START) == NOW + 86_401
