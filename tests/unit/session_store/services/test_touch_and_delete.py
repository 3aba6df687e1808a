"""Touching and deleting sessions."""

import pytest

from session_store.domain.audit_event import AuditEvent
from session_store.domain.session import Status, author_of
from session_store.errors import (
    MisdirectedError,
    SessionClosedError,
    SessionNotFoundError,
    VersionConflictError,
)
from session_store.schema import session_pk
from tests.support.samples import ALICE, AUDIT_RETENTION, BOB, NOW_MS, NOW_SECONDS, REGION
from tests.support.world import World


def test_a_touch_before_it_is_due_writes_nothing(world: World) -> None:
    session = world.open()
    world.clock.pass_(359)
    assert world.store.sessions.touch(ALICE, session.session_id) == session
    assert world.slides == []


def test_a_due_touch_moves_the_end_and_leaves_the_version(world: World) -> None:
    session = world.open()
    world.clock.pass_(360)
    after = world.store.sessions.touch(ALICE, session.session_id)
    assert (after.ttl, after.slide_after) == (NOW_SECONDS + 3960, NOW_SECONDS + 720)
    assert after.version == session.version
    assert world.stored(session.session_id) == after


def test_a_hundred_touches_in_a_second_are_one_slide(world: World) -> None:
    session = world.open()
    world.clock.pass_(360)
    for _ in range(100):
        world.store.sessions.touch(ALICE, session.session_id)
        world.clock.pass_(0.005)
    assert len(world.slides) == 1


def test_a_session_of_10_seconds_lives_while_it_is_touched_every_5(world: World) -> None:
    session_id = world.open(idle_timeout=10).session_id
    for _ in range(8):
        world.clock.pass_(5)
        world.store.sessions.touch(ALICE, session_id)
    world.clock.pass_(15)
    with pytest.raises(SessionNotFoundError):
        world.store.sessions.touch(ALICE, session_id)


def test_touching_never_moves_the_end_past_the_longest_life(world: World) -> None:
    session_id = world.open(idle_timeout=10, max_lifetime=25).session_id
    for _ in range(4):
        world.clock.pass_(6)
        assert world.store.sessions.touch(ALICE, session_id).ttl <= NOW_SECONDS + 25
    world.clock.pass_(1)
    with pytest.raises(SessionNotFoundError):
        world.store.sessions.touch(ALICE, session_id)


def test_a_closing_session_is_kept_alive_and_a_closed_one_is_not(world: World) -> None:
    closing, closed = world.open(status=Status.CLOSING), world.open(status=Status.CLOSED)
    world.clock.pass_(360)
    assert world.store.sessions.touch(ALICE, closing.session_id).ttl == NOW_SECONDS + 3960
    with pytest.raises(SessionClosedError):
        world.store.sessions.touch(ALICE, closed.session_id)
    assert world.stored(closed.session_id) == closed


def test_a_touch_at_another_version_is_refused(world: World) -> None:
    session = world.open()
    assert world.store.sessions.touch(ALICE, session.session_id, version=2) == session
    with pytest.raises(VersionConflictError) as refused:
        world.store.sessions.touch(ALICE, session.session_id, version=1)
    assert refused.value.facts == {"currentVersion": 2}


def test_a_touch_away_from_home_is_misdirected_for_it_keeps_nothing_alive(world: World) -> None:
    session = world.open()
    world.clock.pass_(360)
    with pytest.raises(MisdirectedError) as refused:
        world.seen_from("eu-west-1").sessions.touch(ALICE, session.session_id)
    assert refused.value.facts == {"homeRegion": REGION}


def test_a_deletion_leaves_an_event_that_names_the_actor(world: World) -> None:
    session_id = world.open().session_id
    world.store.sessions.delete(ALICE, session_id)
    (event,) = world.memory.events
    assert event == AuditEvent(
        pk=session_pk(session_id),
        event_name="SessionDeleted",
        at=NOW_MS,
        author=author_of(ALICE),
        region=REGION,
        operation_id=event.operation_id,
        ttl=NOW_SECONDS + AUDIT_RETENTION,
    )
    assert event.author.principal == "111122223333:role/backend alice"
    assert event.author.request_id == "request-1"
    assert 0 < len(event.operation_id) <= 36


@pytest.mark.parametrize("status", Status)
def test_a_session_is_deleted_in_any_status(world: World, status: Status) -> None:
    world.store.sessions.delete(ALICE, world.open(status=status).session_id)
    assert world.memory.sessions == {}


def test_a_refused_deletion_leaves_session_and_trail_alone(world: World) -> None:
    session = world.open()
    with pytest.raises(VersionConflictError):
        world.store.sessions.delete(ALICE, session.session_id, version=1)
    with pytest.raises(SessionNotFoundError):
        world.store.sessions.delete(BOB, session.session_id)
    assert world.stored(session.session_id) == session
    assert world.memory.events == []
