"""Claims stay."""

from session_store.domain.tool_call import claim_ttl
from tests.support.samples import NOW_MS, NOW_SECONDS


def test_a_claim_stays_with_its_session_and_at_least_a_day_after_its_lease() -> None:
    assert claim_ttl(session_ends=NOW_SECONDS + 86_399, lease_until_ms=NOW_MS) == NOW_SECONDS + 86_400
    assert claim_ttl(session_ends=NOW_SECONDS + 86_401, lease_until_ms=NOW_MS) == NOW_SECONDS + 86_401
