"""What is priced: each operation of the API once, and whole lives of a message, a tool call and a session."""

import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from bench.played import Played
from bench.prices import Meter, Usage
from bench.spending import GB, Spent
from session_store.domain.identifiers import MessageIds

MESSAGES: Final = 20
TOOL_CALLS: Final = 10
STATE_WRITES: Final = 5
LIFE: Final = (
    f"a session: created, moved, {MESSAGES} messages, {TOOL_CALLS} tool calls, {STATE_WRITES} state writes, "
    "ended"
)
KILOBYTE: Final = "x" * 1000
TOO_LARGE: Final = "x" * 400_000
"""For an item: S3 keeps it."""

SHORTEST_IDLE: Final = 10
DUE: Final = 1.1
"""Seconds after which a window of ``SHORTEST_IDLE`` is due to move: a tenth of it, and a little."""

ACCESS_LOG_BYTES: Final = 400
"""Assumed of the gateway's line of a call."""

TRACED: Final = 0.05
"""The share of calls that X-Ray records by default, beside one a second."""

AUDIT_MONTHS: Final = 3
SESSION_MONTHS: Final = 1 / 30
"""A day: what a session and its children are taken to lie in the table."""

NOT_PRICED: Final = frozenset({"list_dead_letters", "redrive_dead_letters"})
"""They are asked when something failed, and cost what they find."""

NEW: Final = {"idleTimeout": 3600, "state": {"goal": "book a trip", "steps": 0}}
TOOL_CALL: Final = {"toolName": "search", "input": {"q": "x"}, "output": {"hits": 3}, "durationMs": 12}


@dataclass(frozen=True, slots=True)
class Row:
    """``api``: of its ``calls``; ``after``: what the stream and the clean-up do because of them."""

    label: str
    api: Spent
    after: Usage
    calls: int = 1
    operation: str = ""
    stored: Usage = field(default_factory=Usage)

    @property
    def usage(self) -> Usage:
        at_the_edge = {Meter.CALL: 1.0, Meter.TRACE: TRACED, Meter.LOG_GB: ACCESS_LOG_BYTES / GB}
        return Usage(at_the_edge) * self.calls + self.api.usage() + self.after + self.stored


@dataclass(frozen=True, slots=True)
class Request:
    operation: str
    label: str
    method: str
    path: str
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


def messages(count: int = 1, **how: object) -> Mapping[str, object]:
    return {"messages": [{"content": KILOBYTE}] * count, **how}


SESSION: Final = "/sessions/{id}"
CONTEXT: Final = f"{SESSION}/context"
STATE: Final = f"{SESSION}/state"
CREATE: Final = Request("create_session", "create a session", "POST", "/sessions", NEW)
KEYED: Final = {"Idempotency-Key": "priced"}
CREATE_KEYED: Final = Request(
    "create_session", "create a session, under a key", "POST", "/sessions", NEW, KEYED
)
ACTIVATE: Final = Request("move_session", "move the status", "POST", f"{SESSION}/status", {"to": "active"})
SET: Final = Request("change_state", "set a key of the state", "PATCH", STATE, {"set": {"k": 1}})
TOUCH: Final = Request("touch_session", "touch, nothing due", "POST", f"{SESSION}/touch")
APPEND: Final = Request("append_messages", "append a message of 1 KB", "POST", CONTEXT, messages())
RECORD: Final = Request(
    "record_tool_call", "record a small tool call", "PUT", f"{SESSION}/tool-calls/call-0", TOOL_CALL
)
CHECKPOINTS: Final = f"{SESSION}/checkpoints"
CHECKPOINT_ID: Final = MessageIds(random_bytes=secrets.token_bytes).mint(time.time_ns() // 1_000_000)
CHECKPOINT: Final = Request(
    "add_checkpoint",
    "add a checkpoint of 1 KB, by its id",
    "POST",
    CHECKPOINTS,
    {"data": KILOBYTE, "checkpointId": CHECKPOINT_ID},
)
"""There before ``CHECKPOINT_READS``."""

WRITES: Final = (
    CREATE_KEYED,
    ACTIVATE,
    SET,
    Request("change_state", "the same, under a key", "PATCH", STATE, {"set": {"k": 2}}, KEYED),
    Request("change_state", "increment, or append", "PATCH", STATE, {"increment": {"steps": 1}}),
    Request("replace_state", "replace the state", "PUT", STATE, {"k": 2}, {"If-Match": "*"}),
    TOUCH,
    APPEND,
    Request("append_messages", "append two of 1 KB, atomically", "POST", CONTEXT, messages(2, atomic=True)),
    Request("add_checkpoint", "add a checkpoint of 1 KB", "POST", CHECKPOINTS, {"data": KILOBYTE}),
    Request("add_checkpoint", "the same, under a key", "POST", CHECKPOINTS, {"data": KILOBYTE}, KEYED),
    RECORD,
)
CHECKPOINT_READS: Final = (
    Request("get_latest_checkpoint", "read the newest checkpoint", "GET", f"{CHECKPOINTS}/latest"),
    Request("get_checkpoint", "read a checkpoint", "GET", f"{CHECKPOINTS}/{CHECKPOINT_ID}"),
    Request("list_checkpoints", "list checkpoints, one of 1 KB", "GET", f"{CHECKPOINTS}?limit=1"),
)
LARGE: Final = Request(
    "append_messages",
    "append a message of 400 KB",
    "POST",
    CONTEXT,
    {"messages": [{"content": TOO_LARGE}]},
)
READ_LARGE: Final = Request(
    "list_messages", "read a message of 400 KB", "GET", f"{CONTEXT}?limit=1&order=desc"
)
READS: Final = (
    Request("get_session", "read a session", "GET", SESSION),
    Request("list_messages", f"read {MESSAGES} messages of 1 KB", "GET", f"{CONTEXT}?limit={MESSAGES}"),
    Request("get_tool_call", "read a tool call", "GET", f"{SESSION}/tool-calls/call-0"),
    Request("list_tool_calls", f"list {TOOL_CALLS} tool calls", "GET", f"{SESSION}/tool-calls"),
    Request("get_history", f"history, {TOOL_CALLS} tool calls", "GET", f"{SESSION}/history"),
    Request("list_audit", "20 entries of the audit", "GET", f"{SESSION}/audit?limit=20"),
    Request("list_sessions", "list the caller's sessions", "GET", "/sessions?limit=20"),
    Request("list_expiring", "list sessions that end soon", "GET", "/ops/expiring"),
    Request("health", "health", "GET", "/health"),
)
DELETE: Final = Request("delete_session", "delete a session without children", "DELETE", SESSION)
DRAIN: Final = Request(
    "drain_sessions", "drain, one session moved", "POST", "/ops/drain", {"withinSeconds": 60}
)


def rows(played: Played) -> tuple[list[Row], list[Row]]:
    """Of each operation, and of whole lives."""
    session_id, created = opened(played)
    creation = Row(CREATE.label, created, played.audited().usage(), operation=CREATE.operation)
    writes = [row(played, request, session_id) for request in (*WRITES, LARGE, READ_LARGE)]
    called(played, CHECKPOINT, session_id)
    played.audited()
    of_checkpoints = [row(played, request, session_id) for request in CHECKPOINT_READS]
    lived = Lived(played)
    requests = [
        creation,
        *writes,
        *(row(played, request, lived.session_id) for request in READS),
        *of_checkpoints,
        *_short_lived(played),
    ]
    played.expired(session_id)
    empty = children(played, APPEND, 0)
    whole = [
        _whole_life(played, "a message of 1 KB", APPEND, MESSAGES, empty),
        _whole_life(played, "a small tool call", RECORD, TOOL_CALLS, empty),
        Row("the end of a session, by its time", Spent(), empty, calls=0),
        lived.ended(),
    ]
    return requests, whole


def opened(played: Played, body: object = NEW) -> tuple[str, Spent]:
    """The id of a new session, and what it took."""
    session, spent = played.call(CREATE.method, CREATE.path, body)
    return session["sessionId"], spent


def called(played: Played, request: Request, session_id: str, number: int = 0) -> Spent:
    """``number`` tells one tool call from another."""
    path = request.path.replace("call-0", f"call-{number}").format(id=session_id)
    _, spent = played.call(request.method, path, request.body, headers=request.headers)
    return spent


def row(played: Played, request: Request, session_id: str, label: str = "") -> Row:
    spent = called(played, request, session_id)
    return Row(label or request.label, spent, played.audited().usage(), operation=request.operation)


def _short_lived(played: Played) -> Iterator[Row]:
    session_id, _ = opened(played, {**NEW, "idleTimeout": SHORTEST_IDLE})
    played.audited()
    time.sleep(DUE)
    yield row(played, TOUCH, session_id, "touch, the window due to move")
    yield row(played, DRAIN, session_id)
    deleted = called(played, DELETE, session_id)
    yield Row(DELETE.label, deleted, played.ended(), operation=DELETE.operation)


def children(played: Played, request: Request, count: int) -> Usage:
    """What the end of a session does that had so many children."""
    session_id, _ = opened(played)
    for number in range(count):
        called(played, request, session_id, number)
    played.audited()
    return played.expired(session_id)


def _whole_life(played: Played, label: str, request: Request, count: int, empty: Usage) -> Row:
    """Of one child: written, audited, kept, and its share of the erasure of ``count``."""
    session_id, _ = opened(played)
    played.audited()
    before = played.stored(session_id)
    written = row(played, request, session_id)
    kept = _kept(played.stored(session_id)) + _kept(before) * -1
    played.expired(session_id)
    share = (children(played, request, count) + empty * -1) * (1 / count)
    return Row(label, written.api, written.after + share, stored=kept)


class Lived:
    """A session that was worked in: created, activated, messages, tool calls, writes of its state."""

    def __init__(self, played: Played) -> None:
        self._played = played
        self.session_id, created = opened(played)
        steps = [*[RECORD] * TOOL_CALLS, ACTIVATE, *[APPEND] * MESSAGES, *[SET] * STATE_WRITES]
        spent = [called(played, step, self.session_id, number) for number, step in enumerate(steps)]
        self._calls = 1 + len(steps)
        self._api = sum(spent, start=created)
        self._after = played.audited().usage()

    def ended(self) -> Row:
        in_table, _ = self._played.stored(self.session_id)
        after = self._after + self._played.expired(self.session_id)
        _, in_trail = self._played.stored(self.session_id)
        return Row(LIFE, self._api, after, calls=self._calls, stored=_kept((in_table, in_trail)))


def _kept(stored: tuple[int, int]) -> Usage:
    """Bytes in the table for a day, and in the audit table for its retention, both recoverable."""
    in_table, in_trail = stored
    gb_months = (in_table * SESSION_MONTHS + in_trail * AUDIT_MONTHS) / GB
    return Usage({Meter.STORED: gb_months, Meter.RECOVERABLE: gb_months})
