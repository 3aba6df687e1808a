"""Message ids minted by the client, so that the store recognises a retried append."""

import secrets
import threading
import time
import uuid
from typing import Final

_COUNTER_BITS: Final = 12
_RANDOM_BITS: Final = 62


class MessageIds:
    """Mints UUIDv7s that rise strictly within one instance (RFC 9562, 5.7 and 6.2, method 1).

    The store orders a transcript by its ids, so messages of several writers are ordered by their clocks. It
    refuses a new id whose time is more than five minutes off its own clock.
    """

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def mint(self) -> str:
        now_ms = time.time_ns() // 1_000_000
        with self._lock:
            # Twelve bits count within a millisecond; if the clock steps back, the last id is counted on.
            self._last = max(self._last + 1, now_ms << _COUNTER_BITS)
            at_ms, count = divmod(self._last, 1 << _COUNTER_BITS)
        random = secrets.randbits(_RANDOM_BITS)
        return str(uuid.UUID(int=at_ms << 80 | 7 << 76 | count << 64 | 2 << 62 | random))
