"""Times as the store keeps them.

Instants are integer milliseconds since the epoch. ``ttl`` values are whole
*seconds*, because DynamoDB's TTL reads seconds; an item whose ``ttl`` is now has expired.
"""

from datetime import UTC, datetime
from typing import Final

MILLIS: Final = 1000
DAY_SECONDS: Final = 86_400
LATEST_MS: Final = 253_402_300_799_999
"""The last millisecond of the year 9999; after it, text order would not be time order."""


def seconds(at_ms: int) -> int:
    """The whole second that ``at_ms`` lies in."""
    return at_ms // MILLIS


def end_of_second(at_ms: int) -> int:
    """The last millisecond of the whole second that ``at_ms`` lies in."""
    return (seconds(at_ms) + 1) * MILLIS - 1


def iso(at_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds: ``2026-01-31T08:30:00.123Z``."""
    whole, millis = divmod(at_ms, MILLIS)
    # Not every C library pads years before 1000, and an unpadded year would break the order of keys.
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + f".{millis:03d}Z"


def from_iso(text: str) -> int:
    """Milliseconds since the epoch, of a text that ``iso`` wrote or any ISO 8601 text with a zone.

    Raises:
        ValueError: not such a text.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        message = "a time needs a zone"
        raise ValueError(message)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * DAY_SECONDS + since.seconds) * MILLIS + since.microseconds // MILLIS


def is_expired(ttl: int, now_ms: int) -> bool:
    """Whether something that ends at ``ttl`` (epoch seconds) has expired at ``now_ms``."""
    return ttl <= seconds(now_ms)
