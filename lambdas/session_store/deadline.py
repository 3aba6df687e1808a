"""The deadline of the current request."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Deadline:
    """The time left for the current request, unlimited until it is set.

    A Lambda process serves one request at a time, so one deadline a process is enough. Programs that use the
    library for several requests at once leave it unset.
    """

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._ends_at = float("inf")
        self._thread = threading.local()

    def expires_in(self, seconds: float) -> None:
        """Set the deadline to ``seconds`` from now."""
        self._ends_at = self._monotonic() + seconds

    def another(self, seconds: float) -> "Deadline":
        """A deadline ``seconds`` from now, by the same clock."""
        other = Deadline(monotonic=self._monotonic)
        other.expires_in(seconds)
        return other

    def remaining(self) -> float:
        """Seconds left; negative after the deadline."""
        if getattr(self._thread, "is_free", False):
            return float("inf")
        return self._ends_at - self._monotonic()

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Free this thread from the deadline while the block runs; it holds in other threads."""
        self._thread.is_free = True
        try:
            yield
        finally:
            self._thread.is_free = False
