"""Slides of a session's window."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from session_store.domain.session import Session, Status, owner_of
from session_store.domain.slide import admits_slide, apply_slide
from session_store.domain.window import Window
from tests.support.samples import BOB, NOW_MS, NOW_SECONDS, a_session, a_slide

DUE_MS = (NOW_SECONDS + 360) * 1000


def used(session: Session, now_ms: int) -> Session:
    """Use the session as a use case does: slide if it is due and admitted."""
    slide = a_slide(session, now_ms=now_ms)
    return (
        apply_slide(session, slide) if session.slide_due(now_ms) and admits_slide(session, slide) else session
    )


def test_a_slide_moves_the_end_and_leaves_the_version() -> None:
    session = a_session()
    slide = a_slide(session, now_ms=DUE_MS)
    assert admits_slide(session, slide)
    assert apply_slide(session, slide) == replace(
        session, ttl=NOW_SECONDS + 360 + 3600, slide_after=NOW_SECONDS + 720, updated_by=slide.author
    )


def test_a_slide_is_due_from_its_second_on() -> None:
    session = a_session()
    assert not session.slide_due(DUE_MS - 1)
    assert not admits_slide(session, a_slide(session, now_ms=DUE_MS - 1))
    assert session.slide_due(DUE_MS)


def test_no_slide_is_due_once_the_longest_life_is_reached() -> None:
    session = a_session(ttl=NOW_SECONDS + 400, max_expires_at=NOW_SECONDS + 400)
    assert not session.slide_due(DUE_MS)
    assert not admits_slide(session, a_slide(session, now_ms=DUE_MS))


@pytest.mark.parametrize("status", Status)
def test_a_closed_session_slides_no_more(status: Status) -> None:
    session = a_session(status=status)
    expected = status is not Status.CLOSED
    assert session.slide_due(DUE_MS) == expected
    assert admits_slide(session, a_slide(session, now_ms=DUE_MS)) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"owner": owner_of(BOB)},
        {"home_region": "eu-west-1"},
        {"ttl": NOW_SECONDS + 360},
        {"slide_after": NOW_SECONDS + 361},
    ],
)
def test_a_slide_is_refused_where_the_session_has_changed(change: dict[str, Any]) -> None:
    session = a_session()
    assert not admits_slide(replace(session, **change), a_slide(session, now_ms=DUE_MS))


def test_an_absent_session_does_not_slide() -> None:
    assert not admits_slide(None, a_slide(a_session(), now_ms=DUE_MS))


def test_an_end_never_moves_backwards() -> None:
    session = a_session(ttl=NOW_SECONDS + 5000)
    for moved, ttl in ((False, session.ttl - 1), (False, session.ttl), (True, session.ttl + 1)):
        window = Window(ttl=ttl, slide_after=NOW_SECONDS + 999)
        assert admits_slide(session, a_slide(session, now_ms=DUE_MS, window=window)) == moved


def test_a_hundred_uses_in_a_second_are_one_slide() -> None:
    session = a_session()
    ends = []
    for use in range(100):
        session = used(session, DUE_MS + use * 10)
        ends.append(session.slide_after)
    assert set(ends) == {NOW_SECONDS + 720}


@given(
    st.integers(10, 604_800),
    st.integers(10, 7_776_000),
    st.lists(st.integers(0, 800_000_000), min_size=1, max_size=30),
)
def test_a_session_lives_90_to_100_percent_of_its_timeout_after_its_last_use(
    idle_timeout: int, lifetime: int, pauses: list[int]
) -> None:
    """To the second: it may live one second less than 90 %, as both ends are whole seconds."""
    maximum = NOW_SECONDS + lifetime
    window = a_session(idle_timeout=idle_timeout, max_expires_at=maximum).window_at(NOW_MS)
    session = a_session(
        idle_timeout=idle_timeout,
        max_expires_at=maximum,
        ttl=window.ttl,
        slide_after=window.slide_after,
    )
    now_ms = NOW_MS
    for pause in pauses:
        now_ms += pause
        if session.ttl <= now_ms // 1000:
            return
        before, session = session, used(session, now_ms)
        assert before.ttl <= session.ttl <= maximum
        lives_ms = session.ttl * 1000 - now_ms
        assert lives_ms <= idle_timeout * 1000
        assert session.ttl == maximum or lives_ms > 0.9 * idle_timeout * 1000 - 1000
