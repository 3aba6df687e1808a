"""What every SessionStorage promises of its lists."""

from functools import partial

import pytest

from session_store.domain.page import ExpiringPosition, OwnedPosition, Page, PageRequest, ShardPosition
from session_store.domain.session import ExpiringSession, Owner, SessionSummary, Status
from session_store.ports import Storage
from tests.support.pages import every_item
from tests.support.samples import NOW_MS, NOW_SECONDS, SESSION_ID, kept, operation_id

FAR_MS = NOW_MS + 10**9
"""So late that other tests' sessions are over."""

FAR = FAR_MS // 1000


@pytest.fixture
def owner() -> Owner:
    """One whom no other test knows."""
    return Owner(tenant=f"111122223333:user/{operation_id()}", subject="-")


@pytest.mark.parametrize("descending", [True, False])
def test_owned_sessions_come_page_by_page_each_once(
    storage: Storage, owner: Owner, *, descending: bool
) -> None:
    sessions = [kept(storage, owner=owner, created_at=NOW_MS + at // 2) for at in range(7)]
    kept(storage)
    read = partial(_owned, storage, owner)
    seen = [session.session_id for session in every_item(read, limit=3, descending=descending)]
    assert sorted(seen) == sorted(session.session_id for session in sessions)
    created = {session.session_id: session.created_at for session in sessions}
    assert [created[session_id] for session_id in seen] == sorted(created.values(), reverse=descending)


def test_a_list_shows_no_expired_session_and_only_the_status_asked_for(
    storage: Storage, owner: Owner
) -> None:
    active = kept(storage, owner=owner)
    kept(storage, owner=owner, ttl=NOW_SECONDS)
    kept(storage, owner=owner, status=Status.CLOSED)
    found = storage.sessions.page_owned(
        owner, status=Status.ACTIVE, now_ms=NOW_MS, page=PageRequest(limit=100, descending=True)
    )
    assert [session.session_id for session in found.items] == [active.session_id]


def test_expiring_sessions_come_soonest_first_each_once_over_all_shards(storage: Storage) -> None:
    ends = [FAR + 1 + at // 3 for at in range(30)]
    expected = {kept(storage, ttl=ttl).session_id: ttl for ttl in ends}
    kept(storage, ttl=FAR)
    kept(storage, ttl=FAR + 100)
    kept(storage, ttl=FAR + 5, status=Status.CLOSING)
    seen = every_item(partial(_expiring, storage, FAR_MS, FAR + 50), limit=4)
    assert [session.ttl for session in seen] == ends
    assert {session.session_id: session.ttl for session in seen} == expected


def test_a_cursor_of_a_clock_that_ran_ahead_leaves_an_empty_rest(storage: Storage) -> None:
    later_ms = FAR_MS + 10**6
    until = later_ms // 1000 + 50
    kept(storage, ttl=until)
    shards = {shard: ShardPosition(ttl=until + 5, session_id=SESSION_ID) for shard in range(4)}
    page = PageRequest(limit=4, after=ExpiringPosition(shards=shards))
    found = storage.sessions.page_expiring(Status.ACTIVE, now_ms=later_ms, until=until, page=page)
    assert (found.items, found.next) == ((), None)


def _owned(
    storage: Storage, owner: Owner, page: PageRequest[OwnedPosition]
) -> Page[SessionSummary, OwnedPosition]:
    return storage.sessions.page_owned(owner, status=None, now_ms=NOW_MS, page=page)


def _expiring(
    storage: Storage, now_ms: int, until: int, page: PageRequest[ExpiringPosition]
) -> Page[ExpiringSession, ExpiringPosition]:
    return storage.sessions.page_expiring(Status.ACTIVE, now_ms=now_ms, until=until, page=page)


@pytest.mark.parametrize("status", Status)
def test_living_sessions_of_a_status_are_counted_over_all_shards(storage: Storage, status: Status) -> None:
    home = f"home-{operation_id()}"
    for _ in range(9):
        kept(storage, status=status, home_region=home)
    kept(storage, status=status, home_region=home, ttl=NOW_SECONDS)
    kept(storage, status=status, home_region=f"{home}-not")
    other = Status.CLOSED if status is Status.ACTIVE else Status.ACTIVE
    kept(storage, status=other, home_region=home)
    parts = storage.sessions.count_living(status, region=home, now_ms=NOW_MS)
    assert sum(parts) == 9
