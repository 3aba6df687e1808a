"""The sliding window, in whole seconds."""

from hypothesis import given
from hypothesis import strategies as st

from session_store.domain.window import Window, window_from
from tests.support.samples import NOW_MS, NOW_SECONDS

INSTANTS = st.integers(1_700_000_000_000, 4_000_000_000_000)
TIMEOUTS = st.integers(10, 604_800)


def test_a_window_ends_an_idle_timeout_after_the_use() -> None:
    window = window_from(NOW_MS, idle_timeout=3600, max_expires_at=NOW_SECONDS + 86_400)
    assert window == Window(ttl=NOW_SECONDS + 3600, slide_after=NOW_SECONDS + 360)


def test_a_window_never_passes_the_longest_life() -> None:
    assert window_from(NOW_MS, idle_timeout=3600, max_expires_at=NOW_SECONDS + 60).ttl == NOW_SECONDS + 60
    assert window_from(NOW_MS, idle_timeout=3600, max_expires_at=NOW_SECONDS + 3600).ttl == NOW_SECONDS + 3600


def test_the_shortest_timeout_slides_after_a_second() -> None:
    for idle_timeout, pause in ((10, 1), (19, 1), (20, 2)):
        window = window_from(NOW_MS, idle_timeout=idle_timeout, max_expires_at=NOW_SECONDS + 60)
        assert window.slide_after == NOW_SECONDS + pause


@given(INSTANTS, TIMEOUTS, st.integers(0, 10**9))
def test_an_unused_session_lives_between_90_and_100_percent_of_its_timeout(
    slid_at: int, idle_timeout: int, later: int
) -> None:
    """Its last use is at or after the slide, and before the next one is due.

    Both ends lie on whole seconds, so up to one second less than 90 % may remain.
    """
    window = window_from(slid_at, idle_timeout=idle_timeout, max_expires_at=10**12)
    last_use = slid_at + later % (window.slide_after * 1000 - slid_at)
    lives_ms = window.ttl * 1000 - last_use
    assert 0.9 * idle_timeout * 1000 - 1000 < lives_ms <= idle_timeout * 1000


@given(INSTANTS, TIMEOUTS, st.integers(1, 10**9))
def test_a_window_is_within_the_longest_life_and_after_now(
    now_ms: int, idle_timeout: int, remaining: int
) -> None:
    maximum = now_ms // 1000 + remaining
    window = window_from(now_ms, idle_timeout=idle_timeout, max_expires_at=maximum)
    assert now_ms // 1000 < window.ttl <= maximum
    assert window.slide_after > now_ms // 1000
