"""How long the request at hand may still take."""

import time
from collections.abc import Callable


class Deadline:
    """Seconds left of the current request; without a limit until one is set.

    A function's process serves one request at a time, so one deadline a process
    is enough. In-process users that serve several at once leave it unset.
    """

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._ends_at = float("inf")

    def expires_in(self, seconds: float) -> None:
        self._ends_at = self._monotonic() + seconds

    def remaining(self) -> float:
        return self._ends_at - self._monotonic()
