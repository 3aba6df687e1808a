"""A session is readable by its owner until it expires."""

import pytest

from session_store.domain.session import check_readable, owner_of
from session_store.errors import SessionNotFoundError
from tests.support.samples import ALICE, BOB, NOW_MS, NOW_SECONDS, STRANGER, a_session


@pytest.mark.parametrize("ttl", [NOW_SECONDS - 1, NOW_SECONDS])
def test_a_session_past_its_ttl_is_not_found(ttl: int) -> None:
    with pytest.raises(SessionNotFoundError):
        check_readable(a_session(ttl=ttl), owner=owner_of(ALICE), now_ms=NOW_MS)


def test_a_session_is_readable_until_its_last_second_is_over() -> None:
    session = a_session(ttl=NOW_SECONDS + 1)
    assert check_readable(session, owner=owner_of(ALICE), now_ms=NOW_MS) is session
    assert check_readable(session, owner=owner_of(ALICE), now_ms=NOW_SECONDS * 1000 + 999) is session


@pytest.mark.parametrize("other", [BOB, STRANGER])
def test_tenant_and_subject_both_own(other: object) -> None:
    owner = owner_of(other)  # type: ignore[arg-type] # callers of the parametrization
    with pytest.raises(SessionNotFoundError):
        check_readable(a_session(), owner=owner, now_ms=NOW_MS)


def test_an_absent_session_is_not_found() -> None:
    with pytest.raises(SessionNotFoundError):
        check_readable(None, owner=owner_of(ALICE), now_ms=NOW_MS)
