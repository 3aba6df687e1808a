"""The lease of a piece of work, as its holder knows it: renewed in time, or lost."""

from collections.abc import Callable
from typing import Final

from session_store.domain.claim import MAX_LEASE, LeasedClaim
from session_store.domain.times import MILLIS
from session_store.errors import FencedError, NotFoundError
from session_store.ports import Clock

BEATS: Final = 3
"""Renewals in the time of one lease, so that one may fail and the next still comes in time."""

RENEW_FOR: Final = MAX_LEASE
"""Seconds: whoever hangs for longer gives its work up."""


class Lease:
    """``extend`` asks the store for a lease of ``seconds`` from now and returns the claim; it blocks.

    The lease is renewed for ``renew_for`` seconds at the most.
    """

    def __init__(
        self,
        extend: Callable[[], LeasedClaim],
        *,
        until_ms: int,
        seconds: int,
        clock: Clock,
        renew_for: int = RENEW_FOR,
    ) -> None:
        self._extend = extend
        self._until_ms = until_ms
        self._clock = clock
        self._renewed_until_ms = clock.now_ms() + renew_for * MILLIS
        self._refusal: Exception | None = None
        self._failure: Exception | None = None
        self.pause: Final = seconds / BEATS
        """Seconds between two renewals."""

    def renew(self) -> bool:
        """Ask for a longer lease; whether to ask again after the next pause."""
        if self._clock.now_ms() >= self._renewed_until_ms:
            return False
        try:
            self._until_ms = self._extend().lease_until_ms
        except (FencedError, NotFoundError) as error:
            self._refusal = error
        except Exception as error:  # noqa: BLE001 - whatever it was, the lease is as it was, and the next beat may reach the store
            self._failure = error
        return self._refusal is None

    @property
    def lost(self) -> bool:
        """Whether somebody else may hold the work by now, or does."""
        return self._refusal is not None or self._clock.now_ms() >= self._until_ms

    def check(self) -> None:
        """Raises:
        FencedError: the work is lost; its cause is what came of the last renewals.
        """
        if self._refusal is not None:
            raise FencedError from self._refusal
        if self.lost:
            raise FencedError("The lease is over: another attempt may hold the work.") from self._failure
