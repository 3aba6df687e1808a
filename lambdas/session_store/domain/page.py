"""Lists, a page at a time."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Position = TypeVar("Position")


@dataclass(frozen=True, kw_only=True)
class PageRequest(Generic[Position]):
    """``after`` is the position of the last item of the page before."""

    limit: int
    after: Position | None = None
    descending: bool = False


@dataclass(frozen=True, kw_only=True)
class Page(Generic[Item, Position]):
    """``next`` is None at the end, and only there: a page may be short, even empty."""

    items: tuple[Item, ...]
    next: Position | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePosition:
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPosition:
    """Within one namespace."""

    checkpoint_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPosition:
    started_at: int
    tool_call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedPosition:
    created_at: int
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPosition:
    """``sk`` of the last entry: times, kinds and sequence numbers order the trail together."""

    sk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMark:
    """The last task consumed of one partition of an index; ``at`` (milliseconds) is its place there."""

    region: str
    shard: int
    queue: str
    at: int
    task_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPosition:
    """``lane``: how far the list is with the kinds of places that tasks lie in, one after the other.

    ``marks``: how far it is with each partition of that.
    """

    lane: str
    marks: tuple[TaskMark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardPosition:
    """The last session consumed of one shard of the status/ttl index."""

    ttl: int
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiringPosition:
    """Per shard of the index, how far the merged list has consumed it."""

    shards: dict[int, ShardPosition]
