"""Leases of tool calls within the life of their session, and tokens."""

from typing import Any

import pytest

from session_store.domain.tool_call import Claim, downstream_token, lease_until, session_needed_until
from tests.support.samples import NOW_MS, NOW_SECONDS, a_call, a_session


@pytest.mark.parametrize(
    ("asked", "ends_in", "given"),
    [
        (60, 3600, 60_000),
        (3600, 1000, 940_000 - NOW_MS % 1000),
        (60, 61, 1000),
        (60, 10, 1000),
        (60, 120, 60_000 - NOW_MS % 1000),
    ],
)
def test_a_lease_ends_a_minute_before_its_session_can_live(asked: int, ends_in: int, given: int) -> None:
    until = lease_until(NOW_MS, lease_seconds=asked, max_expires_at=NOW_SECONDS + ends_in)
    assert until - NOW_MS == given


def test_a_session_is_needed_for_a_minute_after_the_lease() -> None:
    assert session_needed_until(NOW_MS) == NOW_SECONDS + 1 + 60


def test_every_attempt_at_a_call_has_the_same_downstream_token_and_no_other_call_has() -> None:
    session = a_session()

    def token(call_id: str, **changes: Any) -> str:
        claim: Claim = a_call(session, call_id, **changes)[0]
        return downstream_token(claim)

    assert token("c1") == token("c1", started_at=NOW_MS + 1)
    assert token("c1") != token("c2")
    assert len(token("x" * 256)) == 36
