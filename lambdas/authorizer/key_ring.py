"""A cache of the issuer's keys in the process, which bounds how often they are fetched."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from session_store.errors import UnavailableError

FRESH_SECONDS: Final = 600
"""Age up to which cached keys are used: a key that the issuer withdraws is accepted this much longer."""

STALE_SECONDS: Final = 3600
"""Age up to which cached keys are used while the issuer is unavailable."""

UNKNOWN_KEY_PAUSE_SECONDS: Final = 30
"""Between two fetches for unknown key ids, so that made-up ids do not become requests to the issuer."""

FAILURE_PAUSE_SECONDS: Final = 5
"""Between a failed fetch and the next."""

NEVER: Final = float("-inf")


@dataclass(slots=True, kw_only=True)
class KeyRing:
    """Not locked: a Lambda process handles one request at a time."""

    fetch: Callable[[], Mapping[str, Mapping[str, Any]]]
    """As ``KeySource.fetch``."""

    monotonic: Callable[[], float]
    _keys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    _fetched: float = NEVER
    _tried: float = NEVER

    def find(self, key_id: str) -> Mapping[str, Any] | None:
        """The issuer's key of an id; None where it has none.

        Raises:
            UnavailableError: the issuer does not answer, and the cache does not say.
        """
        now = self.monotonic()
        age = now - self._fetched
        known = self._keys.get(key_id)
        if known is not None and age < FRESH_SECONDS:
            return known
        if known is None and age < UNKNOWN_KEY_PAUSE_SECONDS:
            return None
        try:
            self._refresh(now)
        except UnavailableError:
            if known is None or age >= STALE_SECONDS:
                raise
            return known
        return self._keys.get(key_id)

    def _refresh(self, now: float) -> None:
        if now - self._tried < FAILURE_PAUSE_SECONDS:
            raise UnavailableError("the last fetch of the key set failed a moment ago")
        self._tried = now
        self._keys = self.fetch()
        self._fetched = now
        self._tried = NEVER
