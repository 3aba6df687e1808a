"""Message ids minted by the client, so that the store recognises a retried append."""

import secrets
import threading
import time
import uuid
from typing import Final

_COUNTER_BITS: Final = 12
_RANDOM_BITS: Final = 62
_TIME_SHIFT: Final = 80
_LAST_MS: Final = 2**48 - 1


class MessageIds:
    """Mints UUIDv7s that rise strictly within one instance (RFC 9562, 5.7 and 6.2, method 1).

    The store orders a transcript by its ids, so messages of several writers are ordered by their clocks. It
    refuses a new id whose time is more than five minutes off its own clock.
    """

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def mint(self, *, after: str | None = None) -> str:
        """A new id, later than ``after``, which may be of a clock that is ahead: then a millisecond later.

        Ids that are minted afterwards do not depend on ``after``. If that is no UUID, the store refuses it.
        """
        now_ms = time.time_ns() // 1_000_000
        with self._lock:
            # Twelve bits count within a millisecond; if the clock steps back, the last id is counted on.
            self._last = max(self._last + 1, now_ms << _COUNTER_BITS)
            at_ms, count = divmod(self._last, 1 << _COUNTER_BITS)
        random = secrets.randbits(_RANDOM_BITS)
        minted = _uuid7(at_ms, count, random)
        try:
            bound = None if after is None else uuid.UUID(after)
        except ValueError:
            bound = None
        if bound is None or minted > bound:
            return str(minted)
        return str(_uuid7(min((bound.int >> _TIME_SHIFT) + 1, _LAST_MS), count, random))


def _uuid7(at_ms: int, count: int, random: int) -> uuid.UUID:
    return uuid.UUID(int=at_ms << _TIME_SHIFT | 7 << 76 | count << 64 | 2 << 62 | random)
