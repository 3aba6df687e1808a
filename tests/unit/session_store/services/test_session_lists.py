"""Lists of sessions, a page at a time."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest

from session_store.domain.page import ExpiringPosition, OwnedPosition, Page, PageRequest
from session_store.domain.session import ExpiringSession, SessionSummary, Status
from session_store.errors import ForbiddenError
from tests.support.pages import every_page
from tests.support.samples import ALICE, BOB, DAY, OPERATOR, STRANGER
from tests.support.world import World


def owned(world: World, *, status: Status | None = None) -> list[list[str]]:
    """The ids of every page, newest first."""
    read = partial(_owned, world, status)
    return [_ids(page) for page in every_page(read, limit=2, descending=True)]


def _owned(
    world: World, status: Status | None, page: PageRequest[OwnedPosition]
) -> Page[SessionSummary, OwnedPosition]:
    return world.store.sessions.list_owned(ALICE, status=status, page=page)


def expiring(world: World, *, within: int) -> list[list[str]]:
    return [_ids(page) for page in every_page(partial(_expiring, world, within), limit=2)]


def _expiring(
    world: World, within: int, page: PageRequest[ExpiringPosition]
) -> Page[ExpiringSession, ExpiringPosition]:
    return world.store.sessions.list_expiring(OPERATOR, within=within, status=Status.ACTIVE, page=page)


def _ids(sessions: Iterable[SessionSummary | ExpiringSession]) -> list[str]:
    return [session.session_id for session in sessions]


def open_several(world: World, count: int) -> list[str]:
    opened = []
    for _ in range(count):
        opened.append(world.open().session_id)
        world.clock.pass_(1)
    return opened


def test_a_caller_sees_its_own_sessions_newest_first(world: World) -> None:
    opened = open_several(world, 3)
    world.open(caller=BOB)
    world.open(caller=STRANGER)
    first, second, third = opened
    assert owned(world) == [[third, second], [first]]


def test_sessions_of_one_instant_are_each_listed_once(world: World) -> None:
    opened = [world.open().session_id for _ in range(5)]
    assert sorted(opened) == sorted(session_id for page in owned(world) for session_id in page)


def test_a_full_last_page_is_the_last(world: World) -> None:
    opened = open_several(world, 2)
    assert owned(world) == [opened[::-1]]


def test_a_list_may_show_one_status_only(world: World) -> None:
    world.open()
    closing = world.open(status=Status.CLOSING)
    assert owned(world, status=Status.CLOSING) == [[closing.session_id]]


def test_an_expired_session_is_in_no_list(world: World) -> None:
    world.open(idle_timeout=10)
    living = world.open(idle_timeout=11)
    world.clock.pass_(10)
    assert owned(world) == [[living.session_id]]
    assert expiring(world, within=DAY) == [[living.session_id]]


def test_sessions_of_every_owner_are_listed_by_their_end(world: World) -> None:
    late = world.open(idle_timeout=800, caller=BOB).session_id
    soon = world.open(idle_timeout=100).session_id
    middle = world.open(idle_timeout=200, caller=STRANGER).session_id
    world.open(idle_timeout=901)
    world.open(idle_timeout=100, status=Status.INITIALIZING)
    assert expiring(world, within=900) == [[soon, middle], [late]]


def test_an_end_at_the_limit_is_within_it(world: World) -> None:
    session_id = world.open(idle_timeout=900).session_id
    assert expiring(world, within=900) == [[session_id]]
    assert expiring(world, within=899) == [[]]


def test_a_list_of_expiring_sessions_is_for_operators(world: World) -> None:
    page: PageRequest[Any] = PageRequest(limit=10)
    with pytest.raises(ForbiddenError):
        world.store.sessions.list_expiring(ALICE, within=900, status=Status.ACTIVE, page=page)
