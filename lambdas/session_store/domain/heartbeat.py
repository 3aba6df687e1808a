"""The heartbeat that each region writes, so that its replication latency is measured."""

from msgspec import Struct

from session_store.domain.session import Author


class Heartbeat(Struct, frozen=True, kw_only=True):
    region: str
    at: int
    """Milliseconds since the epoch."""

    author: Author
