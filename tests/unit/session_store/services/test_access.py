"""Access to a session: who may read it, and when its expiration slides."""

from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.session import ANY_STATUS, WRITABLE, Session, Status
from session_store.domain.slide import Slide
from session_store.errors import (
    MisdirectedError,
    OutcomeUnknownError,
    SessionClosedError,
    SessionNotFoundError,
    ThrottledError,
)
from session_store.services.access import SessionAccess
from session_store.services.home import Home
from session_store.storage.memory.sessions import MemorySessions
from session_store.storage.memory.state import Memory
from tests.support.samples import ALICE, BOB, NOW_MS, NOW_SECONDS, REGION, a_session
from tests.support.world import SettableClock, WatchedSessions, World

DUE = NOW_SECONDS + 360
ENDS = pytest.mark.parametrize(
    ("ttl", "there"), [(NOW_SECONDS - 1, False), (NOW_SECONDS, False), (NOW_SECONDS + 1, True)]
)


def access_to(session: Session, *, now_ms: int = NOW_MS, region: str = REGION) -> SessionAccess:
    memory = Memory(sessions={session.session_id: session})
    return SessionAccess(
        sessions=WatchedSessions(memory=memory), clock=SettableClock(now_ms), home=Home(region=region)
    )


def asked(access: SessionAccess) -> list[Slide]:
    assert isinstance(access.sessions, WatchedSessions)
    return access.sessions.asked


def find_and_use(access: SessionAccess, session: Session, caller: Caller = ALICE) -> Session:
    return access.slide_quietly(caller, access.load(caller, session.session_id))


@ENDS
def test_a_session_is_there_before_its_end_only(ttl: int, *, there: bool) -> None:
    session = a_session(ttl=ttl)
    access = access_to(session)
    if there:
        assert access.load(ALICE, session.session_id) == session
    else:
        with pytest.raises(SessionNotFoundError):
            access.load(ALICE, session.session_id)


def test_finding_a_session_is_not_using_it() -> None:
    session = a_session()
    access = access_to(session, now_ms=DUE * 1000)
    assert access.load(ALICE, session.session_id) == session
    assert access.load_at_home(ALICE, session.session_id) == session
    assert asked(access) == []


def test_a_use_that_is_not_due_slides_nothing() -> None:
    session = a_session()
    access = access_to(session, now_ms=DUE * 1000 - 1)
    assert find_and_use(access, session) == session
    assert asked(access) == []


def test_a_due_use_slides_once() -> None:
    session = a_session()
    access = access_to(session, now_ms=DUE * 1000)
    after = find_and_use(access, session)
    assert find_and_use(access, session) == after
    assert (after.ttl, after.slide_after) == (DUE + 3600, DUE + 360)
    assert len(asked(access)) == 1


@pytest.mark.parametrize(
    ("idle", "longest", "ttl"),
    [(60, 600, 132), (130, 600, 132), (140, 600, 140), (60, 125, 125), (60, 100, 100)],
)
def test_an_extension_goes_a_tenth_further_than_needed_and_never_past_the_longest_life(
    idle: int, longest: int, ttl: int
) -> None:
    session = a_session(
        ttl=NOW_SECONDS + 10, idle_timeout=idle, max_expires_at=NOW_SECONDS + longest, status=Status.ACTIVE
    )
    access = access_to(session)
    extended = access.extend_until(ALICE, session, until=NOW_SECONDS + 120)
    assert extended.ttl == NOW_SECONDS + ttl
    assert access.extend_until(ALICE, extended, until=NOW_SECONDS + ttl) == extended
    assert len(asked(access)) == 1


def test_a_slide_knows_how_long_the_session_lives_without_it() -> None:
    session = a_session(ttl=NOW_SECONDS + 10)
    access = access_to(session)
    access.extend_until(ALICE, session, until=NOW_SECONDS + 120)
    (slide,) = asked(access)
    assert slide.seconds_left == 9.5


def test_a_foreign_session_is_not_found_and_does_not_slide() -> None:
    session = a_session()
    access = access_to(session, now_ms=DUE * 1000)
    with pytest.raises(SessionNotFoundError):
        find_and_use(access, session, BOB)
    assert asked(access) == []


def test_a_use_away_from_home_asks_for_no_slide_at_all() -> None:
    session = a_session()
    access = access_to(session, now_ms=DUE * 1000, region="eu-west-1")
    assert find_and_use(access, session) == session
    assert access.slide_if_due(ALICE, session) == session
    assert asked(access) == []


def test_a_child_is_written_at_home_only() -> None:
    session = a_session()
    with pytest.raises(MisdirectedError) as refused:
        access_to(session, region="eu-west-1").load_at_home(ALICE, session.session_id)
    assert refused.value.facts == {"homeRegion": REGION}
    assert access_to(session).load_at_home(ALICE, session.session_id) == session


@pytest.mark.parametrize("status", Status)
def test_a_session_is_found_in_any_status(status: Status) -> None:
    session = a_session(status=status)
    assert access_to(session).load_at_home(ALICE, session.session_id) == session


@pytest.mark.parametrize("status", sorted(WRITABLE))
def test_a_session_that_is_not_closing_takes_something_new(status: Status) -> None:
    session = a_session(status=status)
    assert access_to(session).load_writable(ALICE, session.session_id) == session


@pytest.mark.parametrize("status", sorted(ANY_STATUS - WRITABLE))
def test_a_session_that_closes_takes_nothing_new(status: Status) -> None:
    session = a_session(status=status)
    with pytest.raises(SessionClosedError) as refused:
        access_to(session).load_writable(ALICE, session.session_id)
    assert refused.value.facts == {"sessionStatus": status}
    with pytest.raises(SessionNotFoundError):
        access_to(session).load_writable(BOB, session.session_id)
    with pytest.raises(MisdirectedError):
        access_to(session, region="eu-west-1").load_writable(ALICE, session.session_id)


@pytest.mark.parametrize("min_version", [0, 6, 7])
def test_a_copy_that_is_new_enough_is_an_answer(min_version: int) -> None:
    session = a_session(version=7)
    for region in (REGION, "eu-west-1"):
        access = access_to(session, region=region)
        assert access.load(ALICE, session.session_id, min_version=min_version) == session


def test_an_older_copy_is_an_answer_at_home_only() -> None:
    session = a_session(version=7)
    assert access_to(session).load(ALICE, session.session_id, min_version=8) == session
    with pytest.raises(MisdirectedError) as refused:
        access_to(session, region="eu-west-1").load(ALICE, session.session_id, min_version=8)
    assert refused.value.facts == {"homeRegion": REGION}


@dataclass(frozen=True, kw_only=True)
class Outrun(MemorySessions):
    """Storage in which the session was deleted, expired or slid concurrently, or whose slide fails."""

    left: Session | None = None
    error: Exception | None = None

    def slide(self, slide: Slide) -> Session | None:
        del slide
        if self.error is not None:
            raise self.error
        return self.left


def outrun(left: Session | None = None, error: Exception | None = None) -> SessionAccess:
    sessions = Outrun(memory=Memory(), left=left, error=error)
    return SessionAccess(sessions=sessions, clock=SettableClock(DUE * 1000), home=Home(region=REGION))


@pytest.mark.parametrize("left", [None, a_session(ttl=DUE)])
def test_a_session_that_ends_before_its_slide_is_not_there(left: Session | None) -> None:
    with pytest.raises(SessionNotFoundError):
        outrun(left).slide_if_due(ALICE, a_session())


def test_a_slide_that_another_use_has_done_is_a_success() -> None:
    session = a_session()
    moved = replace(session, ttl=DUE + 3600, slide_after=DUE + 360)
    assert outrun(moved).slide_if_due(ALICE, session) == moved
    assert outrun(moved).slide_quietly(ALICE, session) == moved


@pytest.mark.parametrize("error", [ThrottledError(), OutcomeUnknownError()])
def test_a_call_that_succeeded_stays_a_success_whatever_its_slide_does(error: Exception) -> None:
    session = a_session()
    assert outrun(error=error).slide_quietly(ALICE, session) == session
    assert outrun(left=None).slide_quietly(ALICE, session) == session
    with pytest.raises(type(error)):
        outrun(error=error).slide_if_due(ALICE, session)


def test_a_write_that_is_due_slides_too(world: World) -> None:
    session = world.open()
    world.clock.pass_(360)
    after = world.store.sessions.replace_state(ALICE, session.session_id, {"a": 1}, version=2)
    assert after == replace(world.stored(session.session_id), state={"a": 1}, version=3)
    assert after.ttl == DUE + 3600
    assert len(world.slides) == 1
