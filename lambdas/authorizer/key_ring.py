"""The issuer's keys, kept in the process and fetched again when it is time, and not more often."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from session_store.errors import UnavailableError

FRESH_SECONDS: Final = 600
"""A key that the issuer withdraws is believed this much longer, while the issuer answers."""

KEPT_SECONDS: Final = 3600
"""And this much where it does not: an outage of the issuer's is not at once one of ours."""

PAUSE_SECONDS: Final = 30
"""Between two fetches for ids that nobody knows, so that made-up ids are no way to reach the issuer."""

PAUSE_AFTER_FAILURE: Final = 5

NEVER: Final = float("-inf")


@dataclass(slots=True, kw_only=True)
class KeyRing:
    """One process, one request at a time: Lambda runs no two at once, so nothing here is locked."""

    fetch: Callable[[], Mapping[str, Mapping[str, Any]]]
    """As ``KeySource.fetch``."""

    monotonic: Callable[[], float]
    _keys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    _fetched: float = NEVER
    _tried: float = NEVER

    def find(self, key_id: str) -> Mapping[str, Any] | None:
        """The key of an id; None where the issuer has none.

        Raises:
            UnavailableError: whether it has cannot be told, as it does not answer.
        """
        now = self.monotonic()
        age = now - self._fetched
        known = self._keys.get(key_id)
        if known is not None and age < FRESH_SECONDS:
            return known
        if known is None and age < PAUSE_SECONDS:
            return None
        try:
            self._refresh(now)
        except UnavailableError:
            if known is None or age >= KEPT_SECONDS:
                raise
            return known
        return self._keys.get(key_id)

    def _refresh(self, now: float) -> None:
        if now - self._tried < PAUSE_AFTER_FAILURE:
            raise UnavailableError("the key set could not be fetched a moment ago")
        self._tried = now
        self._keys = self.fetch()
        self._fetched = now
        self._tried = NEVER
