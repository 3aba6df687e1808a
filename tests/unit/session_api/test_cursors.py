"""Cursors hold a position and belong to one query."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from session_api.cursors import decode_cursor, encode_cursor
from session_store.domain.page import (
    CheckpointPosition,
    ExpiringPosition,
    MessagePosition,
    OwnedPosition,
    RecordPosition,
    ShardPosition,
    TaskMark,
    TaskPosition,
)
from session_store.domain.times import LATEST_MS
from session_store.errors import InvalidRequestError
from tests.support.samples import NOW_MS, NOW_SECONDS, SESSION_ID
from tests.support.world import CountingIds

QUERY = {"list": "sessions", "status": None}
MARK = TaskMark(region="us-east-1", shard=0, queue="a#b", at=NOW_MS, task_id=SESSION_ID)
POSITIONS: list[Any] = [
    MessagePosition(message_id=CountingIds().message_id(NOW_MS)),
    OwnedPosition(created_at=NOW_MS, session_id=SESSION_ID),
    CheckpointPosition(checkpoint_id=CountingIds().message_id(NOW_MS)),
    RecordPosition(started_at=NOW_MS, tool_call_id="a#b"),
    RecordPosition(started_at=0, tool_call_id="x" * 256),
    RecordPosition(started_at=LATEST_MS, tool_call_id="c1"),
    TaskPosition(lane="open"),
    TaskPosition(lane="open", marks=(MARK, replace(MARK, shard=3)), batch=4),
    TaskPosition(lane="session", marks=(replace(MARK, region="", queue=""),)),
    ExpiringPosition(shards={}),
    ExpiringPosition(
        shards={
            0: ShardPosition(ttl=NOW_SECONDS, session_id=SESSION_ID),
            3: ShardPosition(ttl=NOW_SECONDS, session_id=SESSION_ID),
        }
    ),
]
KINDS = [MessagePosition, CheckpointPosition, OwnedPosition, RecordPosition, ExpiringPosition, TaskPosition]
EACH_KIND = pytest.mark.parametrize("kind", KINDS)


def spelled(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def fingerprint() -> str:
    cursor = encode_cursor(POSITIONS[0], query=QUERY) or ""
    found: str = json.loads(base64.urlsafe_b64decode(cursor + "=="))[0]
    return found


def refused(cursor: str, kind: Any, query: dict[str, Any] | None = None) -> InvalidRequestError:
    with pytest.raises(InvalidRequestError) as error:
        decode_cursor(cursor, kind, query=query or QUERY)
    return error.value


@pytest.mark.parametrize("position", POSITIONS)
def test_a_position_comes_back(position: Any) -> None:
    cursor = encode_cursor(position, query=QUERY)
    assert cursor is not None
    assert decode_cursor(cursor, type(position), query=QUERY) == position


def test_the_end_of_a_list_has_no_cursor() -> None:
    assert encode_cursor(None, query=QUERY) is None
    assert decode_cursor(None, MessagePosition, query=QUERY) is None


@pytest.mark.parametrize(
    "query",
    [
        {"list": "sessions", "status": "active"},
        {"list": "expiring", "status": None},
        {"list": "sessions"},
    ],
)
def test_a_cursor_of_another_query_is_refused(query: dict[str, Any]) -> None:
    cursor = encode_cursor(POSITIONS[1], query=QUERY) or ""
    error = refused(cursor, OwnedPosition, query)
    assert error.facts["path"] == "query cursor"
    assert "another list or to other query parameters" in error.detail


def test_a_cursor_holds_no_partition() -> None:
    cursor = encode_cursor(OwnedPosition(created_at=NOW_MS, session_id=SESSION_ID), query=QUERY) or ""
    assert json.loads(base64.urlsafe_b64decode(cursor + "=="))[1:] == [
        {"created_at": NOW_MS, "session_id": SESSION_ID}
    ]


@EACH_KIND
@pytest.mark.parametrize(
    "cursor",
    [
        "",
        " ",
        "a",
        "!!!!",
        "é",
        "\ud800",
        "null",
        spelled(None),
        spelled([]),
        spelled([1, 2]),
        spelled("x"),
        "A" * 9999,
    ],
)
def test_a_malformed_cursor_is_refused(cursor: str, kind: Any) -> None:
    assert refused(cursor, kind).facts["path"] == "query cursor"


@pytest.mark.parametrize(
    ("kind", "position"),
    [
        (MessagePosition, {"message_id": "x"}),
        (MessagePosition, {"message_id": 1}),
        (MessagePosition, {}),
        (CheckpointPosition, {"checkpoint_id": "latest"}),
        (OwnedPosition, {"created_at": -1, "session_id": SESSION_ID}),
        (OwnedPosition, {"created_at": LATEST_MS + 1, "session_id": SESSION_ID}),
        (OwnedPosition, {"created_at": 10**400, "session_id": SESSION_ID}),
        (OwnedPosition, {"created_at": 1.5, "session_id": SESSION_ID}),
        (OwnedPosition, {"created_at": True, "session_id": SESSION_ID}),
        (OwnedPosition, {"created_at": NOW_MS, "session_id": "session#other"}),
        (RecordPosition, {"started_at": NOW_MS, "tool_call_id": ""}),
        (RecordPosition, {"started_at": NOW_MS, "tool_call_id": "x" * 257}),
        (RecordPosition, {"started_at": None, "tool_call_id": "c1"}),
        (ExpiringPosition, {"shards": {"0": {"ttl": -1, "session_id": SESSION_ID}}}),
        (ExpiringPosition, {"shards": {"-1": {"ttl": 1, "session_id": SESSION_ID}}}),
        (ExpiringPosition, {"shards": {"a": {"ttl": 1, "session_id": SESSION_ID}}}),
        (ExpiringPosition, {"shards": {"0": {"ttl": 1, "session_id": "s1"}}}),
        (ExpiringPosition, {"shards": [1]}),
        (TaskPosition, {}),
        (TaskPosition, {"lane": "a b"}),
        (TaskPosition, {"lane": "open", "marks": [1]}),
        (TaskPosition, {"lane": "open", "batch": 0}),
        (TaskPosition, {"lane": "open", "batch": 1.5}),
        *(
            (TaskPosition, {"lane": "open", "marks": [{**asdict(MARK), **forged}]})
            for forged in (
                {"at": -1},
                {"shard": -1},
                {"queue": "a b"},
                {"queue": ""},
                {"task_id": "t1"},
                {"region": 1},
            )
        ),
    ],
)
def test_a_position_out_of_range_is_refused(kind: Any, position: dict[str, Any]) -> None:
    assert refused(spelled([fingerprint(), position]), kind).facts["path"] == "query cursor"


@EACH_KIND
@given(noise=st.text() | st.binary().map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_no_cursor_text_crashes(noise: str, kind: Any) -> None:
    refused(noise, kind)


@given(st.integers(0, 200), st.characters(codec="ascii"))
def test_a_tampered_cursor_is_refused_or_another_position_of_the_callers_own(at: int, letter: str) -> None:
    cursor = encode_cursor(POSITIONS[1], query=QUERY) or ""
    tampered = cursor[: at % len(cursor)] + letter + cursor[at % len(cursor) + 1 :]
    try:
        position = decode_cursor(tampered, OwnedPosition, query=QUERY)
    except InvalidRequestError:
        return
    assert isinstance(position, OwnedPosition)
    assert 0 <= position.created_at <= LATEST_MS
