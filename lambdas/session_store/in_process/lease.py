"""The lease of a piece of work as its holder knows it: renewed in time, or lost."""

from collections.abc import Callable
from typing import Final

from session_store.domain.claim import MAX_LEASE, LeasedClaim
from session_store.domain.times import MILLIS
from session_store.errors import FencedError, NotFoundError
from session_store.ports import Clock

RENEWALS_PER_LEASE: Final = 3
"""So that a renewal may fail and the next one still comes in time."""

SHORTEST_PAUSE: Final = 0.1
"""Seconds between two renewals at least, however little of a lease was granted."""

RENEW_FOR: Final = MAX_LEASE
"""Seconds for which a lease is renewed unless the block says otherwise, so that a hung holder loses it."""


class Lease:
    """A lease that ``extend`` renews.

    ``extend`` asks the store for a longer lease and returns the claim; it blocks. The store may grant less
    than it is asked for: a session near its end does. The lease is renewed for ``renew_for`` seconds at most.
    """

    def __init__(
        self,
        extend: Callable[[], LeasedClaim],
        *,
        until_ms: int,
        clock: Clock,
        renew_for: int = RENEW_FOR,
    ) -> None:
        self._extend = extend
        self._clock = clock
        self._grant(until_ms)
        self._renewed_until_ms = clock.now_ms() + renew_for * MILLIS
        self._refusal: Exception | None = None
        self._failure: Exception | None = None

    @property
    def pause(self) -> float:
        """Seconds until the next renewal: a third of the lease as it was granted last."""
        return max(SHORTEST_PAUSE, self._granted_ms / MILLIS / RENEWALS_PER_LEASE)

    def renew(self) -> bool:
        """Renew the lease; returns whether to renew again after the next pause."""
        if self._clock.now_ms() >= self._renewed_until_ms:
            return False
        try:
            self._grant(self._extend().lease_until_ms)
        except (FencedError, NotFoundError) as error:
            self._refusal = error
        except Exception as error:  # noqa: BLE001 - the lease is as it was, and the next renewal may reach the store
            self._failure = error
        return self._refusal is None

    def _grant(self, until_ms: int) -> None:
        self._until_ms = until_ms
        self._granted_ms = until_ms - self._clock.now_ms()

    @property
    def lost(self) -> bool:
        """Whether another attempt may hold the work by now."""
        return self._refusal is not None or self._clock.now_ms() >= self._until_ms

    def check(self) -> None:
        """Check that the lease is not lost.

        Raises:
            FencedError: it is lost; the cause is the error of the last renewal.
        """
        if self._refusal is not None:
            raise FencedError from self._refusal
        if self.lost:
            raise FencedError("The lease has expired: another attempt may hold the work.") from self._failure
