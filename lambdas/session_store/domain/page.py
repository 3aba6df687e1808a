"""Pages of lists, and positions in them."""

from typing import Final, Generic, TypeVar

from msgspec import Struct

Item = TypeVar("Item")
Position = TypeVar("Position")


class PageRequest(Struct, Generic[Position], frozen=True, kw_only=True):
    """A request for up to ``limit`` items after a position, that of the last item of the page before."""

    limit: int
    after: Position | None = None
    descending: bool = False


class Page(Struct, Generic[Item, Position], frozen=True, kw_only=True):
    """A page. ``next`` is None only at the end of the list: a page may be short, or empty."""

    items: tuple[Item, ...]
    next: Position | None


class MessagePosition(Struct, frozen=True, kw_only=True):
    message_id: str


class CheckpointPosition(Struct, frozen=True, kw_only=True):
    """Within one namespace."""

    checkpoint_id: str


class RecordPosition(Struct, frozen=True, kw_only=True):
    started_at: int
    tool_call_id: str


class OwnedPosition(Struct, frozen=True, kw_only=True):
    created_at: int
    session_id: str


class AuditPosition(Struct, frozen=True, kw_only=True):
    """The sort key of the last entry, which orders by time, kind and sequence number."""

    sk: str


OF_SESSION: Final = "session"
"""The lane of a list of what is open in a session, by creation. It has no queues."""


class TaskMark(Struct, frozen=True, kw_only=True):
    """The last task consumed of one partition of an index; ``at`` (ms) is its sort position there.

    ``queue`` is empty in the lane ``OF_SESSION``, and only there.
    """

    region: str
    shard: int
    queue: str
    at: int
    task_id: str


class TaskPosition(Struct, frozen=True, kw_only=True):
    """How far a list of tasks has been read.

    ``lane`` is the lane that is being read, one after another; ``marks`` has the last task consumed of each
    partition of it. ``batch``: how many tasks make about a page, by the size of those before; None if that is
    not known.
    """

    lane: str
    marks: tuple[TaskMark, ...] = ()
    batch: int | None = None


class ShardPosition(Struct, frozen=True, kw_only=True):
    """The last session consumed of one shard of the status/ttl index."""

    ttl: int
    session_id: str


class ExpiringPosition(Struct, frozen=True, kw_only=True):
    """The last session consumed of each shard of the status/ttl index."""

    shards: dict[int, ShardPosition]
