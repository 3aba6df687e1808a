"""Every use of a session moves its end where that is due, once."""

from dataclasses import replace

import pytest

from session_store.domain.session import Session, Status
from session_store.domain.slide import Slide
from session_store.errors import MisdirectedError, SessionClosedError, SessionNotFoundError
from session_store.services.access import SessionAccess
from session_store.storage.memory import Memory, MemorySessions
from tests.support.sessions import NOW, SESSION_ID, a_session
from tests.support.world import ALICE, BOB, REGION, START, SettableClock, WatchedSessions, World

DUE = NOW + 360


def access_to(session: Session, *, now_ms: int = START, region: str = REGION) -> SessionAccess:
    memory = Memory(sessions={session.session_id: session})
    return SessionAccess(sessions=WatchedSessions(memory=memory), clock=SettableClock(now_ms), region=region)


def asked(access: SessionAccess) -> list[Slide]:
    assert isinstance(access.sessions, WatchedSessions)
    return access.sessions.asked


@pytest.mark.parametrize(("ttl", "there"), [(NOW - 1, False), (NOW, False), (NOW + 1, True)])
def test_a_session_is_there_before_its_end_only(ttl: int, *, there: bool) -> None:
    session = a_session(ttl=ttl)
    access = access_to(session)
    if there:
        assert access.read(ALICE, SESSION_ID) == session
    else:
        with pytest.raises(SessionNotFoundError):
            access.read(ALICE, SESSION_ID)


def test_a_read_that_is_not_due_slides_nothing() -> None:
    access = access_to(a_session(), now_ms=DUE * 1000 - 1)
    assert access.read(ALICE, SESSION_ID) == a_session()
    assert asked(access) == []


def test_a_due_read_slides_once() -> None:
    access = access_to(a_session(), now_ms=DUE * 1000)
    after = access.read(ALICE, SESSION_ID)
    assert access.read(ALICE, SESSION_ID) == after
    assert (after.ttl, after.slide_after) == (DUE + 3600, DUE + 360)
    assert len(asked(access)) == 1


def test_reading_anothers_session_slides_nothing() -> None:
    access = access_to(a_session(), now_ms=DUE * 1000)
    with pytest.raises(SessionNotFoundError):
        access.read(BOB, SESSION_ID)
    assert asked(access) == []


def test_a_read_away_from_home_is_answered_and_slides_nothing() -> None:
    access = access_to(a_session(), now_ms=DUE * 1000, region="eu-west-1")
    assert access.read(ALICE, SESSION_ID) == a_session()


def test_a_child_is_written_at_home_only() -> None:
    access = access_to(a_session(), region="eu-west-1")
    for way in (access.read_at_home, access.read_writable):
        with pytest.raises(MisdirectedError) as refused:
            way(ALICE, SESSION_ID)
        assert refused.value.facts == {"homeRegion": REGION}


@pytest.mark.parametrize("status", Status)
def test_a_closing_or_closed_session_admits_no_new_children(status: Status) -> None:
    access = access_to(a_session(status=status))
    if status in (Status.INITIALIZING, Status.ACTIVE):
        assert access.read_writable(ALICE, SESSION_ID).status is status
    else:
        with pytest.raises(SessionClosedError) as refused:
            access.read_writable(ALICE, SESSION_ID)
        assert refused.value.facts == {"sessionStatus": status.value}
    assert access.read_at_home(ALICE, SESSION_ID).status is status


class Outrun(MemorySessions):
    """Another has deleted, or let expire, what is about to slide."""

    left: Session | None = None

    def slide(self, slide: Slide) -> Session | None:
        del slide
        return self.left


@pytest.mark.parametrize("left", [None, a_session(ttl=DUE)])
def test_a_session_that_ends_before_its_slide_is_not_there(left: Session | None) -> None:
    kind = type("OutrunTo", (Outrun,), {"left": left})
    access = SessionAccess(
        sessions=kind(memory=Memory(sessions={SESSION_ID: a_session()})),
        clock=SettableClock(DUE * 1000),
        region=REGION,
    )
    with pytest.raises(SessionNotFoundError):
        access.read(ALICE, SESSION_ID)


def test_a_slide_that_another_use_has_done_is_a_success() -> None:
    moved = a_session(ttl=DUE + 3600, slide_after=DUE + 360)
    kind = type("OutrunTo", (Outrun,), {"left": moved})
    access = SessionAccess(
        sessions=kind(memory=Memory(sessions={SESSION_ID: a_session()})),
        clock=SettableClock(DUE * 1000),
        region=REGION,
    )
    assert access.read(ALICE, SESSION_ID) == moved


def test_a_write_that_is_due_slides_too(world: World) -> None:
    session = world.open()
    world.clock.pass_(360)
    after = world.store.sessions.replace_state(ALICE, session.session_id, {"a": 1}, version=2)
    assert after == replace(world.stored(session.session_id), state={"a": 1}, version=3)
    assert after.ttl == DUE + 3600
    assert len(world.slides) == 1
