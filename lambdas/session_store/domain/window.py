"""Sliding expiration: how long a session lives after its last use.

Every use moves the end to ``now + idle timeout``, never past ``max_expires_at``. The end is rewritten only a
tenth of the idle timeout after the last rewrite: an idle session lives for 90 % to 100 % of its timeout, and
a burst of uses costs one write of the indexes.
"""

from typing import Final

from msgspec import Struct

from session_store.domain.times import seconds

TENTH: Final = 10
SHORTEST_LIFE: Final = 10
LONGEST_IDLE: Final = 604_800
LONGEST_LIFE: Final = 7_776_000
"""Seconds. An idle timeout is 10 seconds to 7 days, the whole life of a session 10 seconds to 90 days."""


class Window(Struct, frozen=True):
    """``ttl``: epoch second at which the session ends. ``slide_after``: epoch second of the next rewrite."""

    ttl: int
    slide_after: int


def window_from(now_ms: int, *, idle_timeout: int, max_expires_at: int) -> Window:
    """The window of a session used at ``now_ms``."""
    now = seconds(now_ms)
    return Window(
        ttl=min(now + idle_timeout, max_expires_at),
        slide_after=now + max(1, idle_timeout // TENTH),
    )


def with_reserve(until: int, now_ms: int) -> int:
    """An end (epoch seconds) a tenth later than the one that a use needs, by the time until then."""
    return until + (until - seconds(now_ms)) // TENTH
