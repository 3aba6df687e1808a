"""Cursors: a position in a list, with a fingerprint of the query that it belongs to.

A cursor names no partition: that comes from the caller alone, so a cursor in other hands reads only what
belongs to its holder.
"""

import base64
from typing import Any, Final, TypeVar

import msgspec

from session_store.domain.identifiers import (
    MAX_TOOL_CALL_ID,
    check_identifier,
    check_message_id,
    check_session_id,
    check_task_id,
)
from session_store.domain.json_values import digest
from session_store.domain.page import (
    OF_SESSION,
    AuditPosition,
    CheckpointPosition,
    ExpiringPosition,
    MessagePosition,
    OwnedPosition,
    RecordPosition,
    TaskMark,
    TaskPosition,
)
from session_store.domain.times import LATEST_MS
from session_store.errors import InvalidRequestError

PATH: Final = "query cursor"

MAX_AUDIT_KEY: Final = 1024
"""Bytes of a sort key (DynamoDB, *Service, account, and table quotas*)."""

Position = TypeVar(
    "Position",
    AuditPosition,
    CheckpointPosition,
    MessagePosition,
    OwnedPosition,
    RecordPosition,
    ExpiringPosition,
    TaskPosition,
)


def _fingerprint(query: dict[str, Any]) -> str:
    return digest(query)[:16]


def encode_cursor(position: object | None, *, query: dict[str, Any]) -> str | None:
    """The cursor for the position after a page; None at the end of the list."""
    if position is None:
        return None
    text = msgspec.json.encode([_fingerprint(query), position])
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def decode_cursor(cursor: str | None, kind: type[Position], *, query: dict[str, Any]) -> Position | None:
    """The position in a cursor that ``encode_cursor`` made for the same query.

    Raises:
        InvalidRequestError: malformed, altered, or of another query.
    """
    if cursor is None:
        return None
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        fingerprint, position = msgspec.json.decode(text, type=tuple[str, kind])  # type: ignore[valid-type] # built at run time
        _check_position(position)
    except (ValueError, RecursionError, msgspec.MsgspecError, InvalidRequestError) as error:
        raise InvalidRequestError("Not a nextCursor of this list", path=PATH) from error
    if fingerprint != _fingerprint(query):
        raise InvalidRequestError(
            "The cursor belongs to another list or to other query parameters", path=PATH
        )
    return position


def _check_position(position: object) -> None:
    match position:
        case AuditPosition(sk=sk):
            check_identifier(sk, path=PATH, longest=MAX_AUDIT_KEY)
        case MessagePosition(message_id=message_id):
            check_message_id(message_id, path=PATH)
        case CheckpointPosition(checkpoint_id=checkpoint_id):
            check_message_id(checkpoint_id, path=PATH)
        case OwnedPosition(created_at=created_at, session_id=session_id):
            _check_time(created_at)
            check_session_id(session_id)
        case RecordPosition(started_at=started_at, tool_call_id=tool_call_id):
            _check_time(started_at)
            check_identifier(tool_call_id, path=PATH, longest=MAX_TOOL_CALL_ID)
        case TaskPosition():
            _check_task_position(position)
        case ExpiringPosition(shards=shards):
            for shard, at in shards.items():
                _check_time(at.ttl)
                _check_time(shard)
                check_session_id(at.session_id)


def _check_task_position(position: TaskPosition) -> None:
    check_identifier(position.lane, path=PATH)
    for mark in position.marks:
        _check_mark(mark, position.lane)
    if position.batch is not None and position.batch < 1:
        raise InvalidRequestError("Out of range", path=PATH)


def _check_mark(mark: TaskMark, lane: str) -> None:
    _check_time(mark.at)
    _check_time(mark.shard)
    check_task_id(mark.task_id)
    if lane != OF_SESSION:
        check_identifier(mark.queue, path=PATH)


def _check_time(value: int) -> None:
    if not 0 <= value <= LATEST_MS:
        raise InvalidRequestError("Out of range", path=PATH)
