"""Pages of lists in memory: the order of each list, and the end of a page."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from session_store.domain.message import Message
from session_store.domain.page import (
    AuditPosition,
    ExpiringPosition,
    MessagePosition,
    OwnedPosition,
    Page,
    PageRequest,
    RecordPosition,
    ShardPosition,
)
from session_store.domain.payload import payload_size
from session_store.domain.session import ExpiringSession, Session, SessionSummary
from session_store.domain.tool_call import ToolCallRecord
from session_store.schema import Attribute
from session_store.storage.dynamodb.codec import Item, from_attribute
from session_store.storage.dynamodb.partition import PAGE_BYTES

ONE_SHARD: Final = 0

Entry = TypeVar("Entry")
Position = TypeVar("Position")


def paged(
    entries: list[Entry],
    page: PageRequest[Position],
    *,
    place: Callable[[Entry], Position],
    order: Callable[[Position], tuple[Any, ...]],
    size: Callable[[Entry], int] = lambda _: 0,
) -> Page[Entry, Position]:
    """The entries after the page's position, up to its limit and ``PAGE_BYTES``."""
    ordered = sorted(entries, key=lambda entry: order(place(entry)), reverse=page.descending)
    if page.after is not None:
        at = order(page.after)
        ordered = [
            entry
            for entry in ordered
            if (order(place(entry)) < at if page.descending else order(place(entry)) > at)
        ]
    shown: list[Entry] = []
    read = 0
    for entry in ordered[: page.limit]:
        read += size(entry)
        if shown and read > PAGE_BYTES:
            break
        shown.append(entry)
    more = len(shown) < len(ordered)
    return Page(items=tuple(shown), next=place(shown[-1]) if more else None)


def owned_position(session: SessionSummary) -> OwnedPosition:
    return OwnedPosition(created_at=session.created_at, session_id=session.session_id)


def by_creation(position: OwnedPosition) -> tuple[int, str]:
    return position.created_at, position.session_id


def expiring_position(session: ExpiringSession) -> ExpiringPosition:
    return ExpiringPosition(shards={ONE_SHARD: ShardPosition(ttl=session.ttl, session_id=session.session_id)})


def by_end(position: ExpiringPosition) -> tuple[int, str]:
    at = position.shards[ONE_SHARD]
    return at.ttl, at.session_id


def message_position(message: Message) -> MessagePosition:
    return MessagePosition(message_id=message.message_id)


def by_message_id(position: MessagePosition) -> tuple[str]:
    return (position.message_id,)


def message_size(message: Message) -> int:
    return payload_size(message.content)


def audit_position(item: Item) -> AuditPosition:
    return AuditPosition(sk=from_attribute(item[Attribute.SK]))


def by_sk(position: AuditPosition) -> tuple[str]:
    return (position.sk,)


def record_position(record: ToolCallRecord) -> RecordPosition:
    return RecordPosition(started_at=record.started_at, tool_call_id=record.tool_call_id)


def by_start(position: RecordPosition) -> tuple[int, str]:
    return position.started_at, position.tool_call_id


def record_size(record: ToolCallRecord) -> int:
    return sum(map(payload_size, (record.input, record.output, record.error)))


def summary_of(session: Session) -> SessionSummary:
    return SessionSummary(
        session_id=session.session_id,
        owner=session.owner,
        status=session.status,
        created_at=session.created_at,
        ttl=session.ttl,
        idle_timeout=session.idle_timeout,
        max_expires_at=session.max_expires_at,
        home_region=session.home_region,
    )


def expiring_of(session: Session) -> ExpiringSession:
    return ExpiringSession(
        session_id=session.session_id,
        owner=session.owner,
        status=session.status,
        ttl=session.ttl,
        home_region=session.home_region,
        warned_ttl=session.warned_ttl,
    )
