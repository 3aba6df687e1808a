"""A sign of life that a region writes for itself."""

from msgspec import Struct

from session_store.domain.session import Author


class Heartbeat(Struct, frozen=True, kw_only=True):
    region: str
    at: int
    """Milliseconds since the epoch."""

    author: Author
