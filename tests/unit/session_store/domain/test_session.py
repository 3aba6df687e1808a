"""A session is there for its owner, until its end."""

import pytest

from session_store.domain.session import owner_of, readable
from session_store.errors import SessionNotFoundError
from tests.support.sessions import NOW, a_session
from tests.support.world import ALICE, BOB, START, STRANGER


@pytest.mark.parametrize("ttl", [NOW - 1, NOW])
def test_a_session_whose_end_has_come_is_gone(ttl: int) -> None:
    with pytest.raises(SessionNotFoundError):
        readable(a_session(ttl=ttl), owner=owner_of(ALICE), now_ms=START)


def test_a_session_is_readable_until_its_last_second_is_over() -> None:
    session = a_session(ttl=NOW + 1)
    assert readable(session, owner=owner_of(ALICE), now_ms=START) is session
    assert readable(session, owner=owner_of(ALICE), now_ms=NOW * 1000 + 999) is session


@pytest.mark.parametrize("other", [BOB, STRANGER])
def test_tenant_and_subject_both_own(other: object) -> None:
    owner = owner_of(other)  # type: ignore[arg-type] # callers of the parametrization
    with pytest.raises(SessionNotFoundError):
        readable(a_session(), owner=owner, now_ms=START)


def test_an_absent_session_is_not_there() -> None:
    with pytest.raises(SessionNotFoundError):
        readable(None, owner=owner_of(ALICE), now_ms=START)
