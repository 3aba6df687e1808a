"""A sign of life that a region writes for itself."""

from dataclasses import dataclass

from session_store.domain.session import Author


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    region: str
    at: int
    """Milliseconds since the epoch."""

    author: Author
