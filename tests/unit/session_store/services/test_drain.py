"""The drain moves sessions that end soon to closing."""

import pytest
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.page import ExpiringPosition, Page, PageRequest
from session_store.domain.session import ExpiringSession, Status, author_of
from session_store.errors import ForbiddenError
from session_store.services.drain import MAX_SESSIONS, DrainResult
from tests.support.samples import ALICE, BOB, OPERATOR, STRANGER
from tests.support.world import WatchedSessions, World


def test_sessions_of_every_tenant_that_end_soon_are_moved_and_the_operator_is_named(world: World) -> None:
    soon = [
        world.open(idle_timeout=600, caller=ALICE),
        world.open(idle_timeout=900, caller=STRANGER, status=Status.INITIALIZING),
    ]
    late = world.open(idle_timeout=901, caller=BOB)
    assert world.store.drain.run(OPERATOR, within=900) == DrainResult(moved=2, skipped=0, more=False)
    for session in soon:
        after = world.stored(session.session_id)
        assert (after.status, after.version) == (Status.CLOSING, session.version + 1)
        assert (after.ttl, after.updated_by) == (session.ttl, author_of(OPERATOR))
    assert world.stored(late.session_id) == late


@pytest.mark.parametrize("status", [Status.CLOSING, Status.CLOSED])
def test_what_is_closing_already_is_left_alone(world: World, status: Status) -> None:
    session = world.open(idle_timeout=600, max_lifetime=700, status=status)
    assert world.store.drain.run(OPERATOR, within=900) == DrainResult(moved=0, skipped=0, more=False)
    assert world.stored(session.session_id) == session


def test_draining_is_for_operators(world: World) -> None:
    session = world.open(idle_timeout=600)
    with pytest.raises(ForbiddenError):
        world.store.drain.run(ALICE, within=900)
    assert world.stored(session.session_id) == session


class StaleIndex(WatchedSessions):
    """An index that is out of date."""

    def page_expiring(
        self, status: Status, *, now_ms: int, until: int, page: PageRequest[ExpiringPosition]
    ) -> Page[ExpiringSession, ExpiringPosition]:
        found = WatchedSessions.page_expiring(self, status, now_ms=now_ms, until=until + 10**6, page=page)
        return replace(found, items=tuple(replace(each, ttl=until) for each in found.items))


def test_a_session_that_was_used_since_is_skipped(world: World) -> None:
    session = world.open(idle_timeout=3600)
    drain = replace(world.store.drain, sessions=StaleIndex(memory=world.memory))
    assert drain.run(OPERATOR, within=900) == DrainResult(moved=0, skipped=1, more=False)
    assert world.stored(session.session_id) == session


def test_a_session_at_home_elsewhere_is_skipped(world: World) -> None:
    session = world.open(idle_timeout=600)
    away = world.seen_from("eu-west-1")
    assert away.drain.run(OPERATOR, within=900) == DrainResult(moved=0, skipped=1, more=False)
    assert world.stored(session.session_id) == session


def test_a_call_takes_up_so_many_and_says_that_there_are_more(world: World) -> None:
    for _ in range(MAX_SESSIONS + 1):
        world.open(idle_timeout=600)
    assert world.store.drain.run(OPERATOR, within=900) == DrainResult(
        moved=MAX_SESSIONS, skipped=0, more=True
    )
    assert world.store.drain.run(OPERATOR, within=900) == DrainResult(moved=1, skipped=0, more=False)


def test_a_call_answers_in_time(world: World) -> None:
    world.open(idle_timeout=600)
    deadline = Deadline(monotonic=lambda: 0.0)
    deadline.expires_in(8)
    late = replace(world.store.drain, deadline=deadline)
    assert late.run(OPERATOR, within=900) == DrainResult(moved=0, skipped=0, more=True)
