"""Lists, a page at a time."""

from typing import Generic, TypeVar

from msgspec import Struct

Item = TypeVar("Item")
Position = TypeVar("Position")


class PageRequest(Struct, Generic[Position], frozen=True, kw_only=True):
    """``after`` is the position of the last item of the page before."""

    limit: int
    after: Position | None = None
    descending: bool = False


class Page(Struct, Generic[Item, Position], frozen=True, kw_only=True):
    """``next`` is None at the end, and only there: a page may be short, even empty."""

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
    """``sk`` of the last entry: times, kinds and sequence numbers order the trail together."""

    sk: str


class TaskMark(Struct, frozen=True, kw_only=True):
    """The last task consumed of one partition of an index; ``at`` (milliseconds) is its place there."""

    region: str
    shard: int
    queue: str
    at: int
    task_id: str


class TaskPosition(Struct, frozen=True, kw_only=True):
    """``lane``: how far the list is with the kinds of places that tasks lie in, one after the other.

    ``marks``: how far it is with each partition of that.
    """

    lane: str
    marks: tuple[TaskMark, ...] = ()


class ShardPosition(Struct, frozen=True, kw_only=True):
    """The last session consumed of one shard of the status/ttl index."""

    ttl: int
    session_id: str


class ExpiringPosition(Struct, frozen=True, kw_only=True):
    """Per shard of the index, how far the merged list has consumed it."""

    shards: dict[int, ShardPosition]
