"""The benchmarked operations: each operation of the API once."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bench.played import Played
from bench.spending import Spent
from session_store.domain.identifiers import MessageIds

MESSAGES: Final = 20
TOOL_CALLS: Final = 10
KILOBYTE: Final = "x" * 1000
TOO_LARGE: Final = "x" * 400_000
"""Too large for an item, so it is stored in S3."""

NOT_PRICED: Final = frozenset(
    {
        "list_dead_letters",
        "redrive_dead_letters",
        "fail_claim",
        "fail_tool_call",
        "reconcile_claim",
        "reconcile_tool_call",
    }
)
"""Called only after failures; they cost what they find, or as much as a completion."""

NEW: Final = {"idleTimeout": 3600, "state": {"goal": "book a trip", "steps": 0}}
TOOL_CALL: Final = {"toolName": "search", "input": {"q": "x"}, "output": {"hits": 3}, "durationMs": 12}


@dataclass(frozen=True, slots=True)
class Request:
    operation: str
    label: str
    method: str
    path: str
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    begun: "Request | None" = None
    """Sent first and not counted; the fence in its answer goes into the body."""


def messages(count: int = 1, **how: object) -> Mapping[str, object]:
    return {"messages": [{"content": KILOBYTE}] * count, **how}


SESSION: Final = "/sessions/{id}"
CONTEXT: Final = f"{SESSION}/context"
STATE: Final = f"{SESSION}/state"
CREATE: Final = Request("create_session", "create a session", "POST", "/sessions", NEW)
KEYED: Final = {"Idempotency-Key": "priced"}
CREATE_KEYED: Final = Request(
    "create_session", "create a session, with an idempotency key", "POST", "/sessions", NEW, KEYED
)
ACTIVATE: Final = Request("move_session", "change the status", "POST", f"{SESSION}/status", {"to": "active"})
SET: Final = Request("change_state", "set a key of the state", "PATCH", STATE, {"set": {"k": 1}})
TOUCH: Final = Request("touch_session", "touch, window not moved", "POST", f"{SESSION}/touch")
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
"""Sent before ``CHECKPOINT_READS``."""

TOOL_CALL_PATH: Final = f"{SESSION}/tool-calls"
LARGE_OUTPUT: Final = "x" * 32 * 1024


def begin(name: str) -> Request:
    """``name`` contains ``call-0``, whose number identifies the call."""
    body = {"toolCallId": name, "toolName": "search", "input": {"q": "x"}}
    return Request("begin_tool_call", "begin a tool call", "POST", TOOL_CALL_PATH, body)


def begun(label: str, name: str, step: str, **body: object) -> Request:
    """A step of a running call."""
    operation = {"heartbeat": "extend_tool_call"}.get(step, f"{step}_tool_call")
    return Request(operation, label, "POST", f"{TOOL_CALL_PATH}/{name}/{step}", body, begun=begin(name))


def claim(key: str) -> Request:
    return Request("begin_claim", "begin a claim", "PUT", f"/claims/{key}", {"input": {"q": "x"}})


def claimed(label: str, key: str, step: str, **body: object) -> Request:
    operation = {"heartbeat": "extend_claim"}.get(step, f"{step}_claim")
    return Request(operation, label, "POST", f"/claims/{key}/{step}", body, begun=claim(key))


RUNS: Final = (
    begin("begin-call-0"),
    begun("extend the lease of a tool call", "extend-call-0", "heartbeat", leaseSeconds=90),
    begun("complete a tool call", "complete-call-0", "complete", output={"hits": 3}),
    begun("the same, 32 KB of output", "large-call-0", "complete", output=LARGE_OUTPUT),
    begun(
        "the same, with a message and the state",
        "whole-call-0",
        "complete",
        output={"hits": 3},
        state={"set": {"k": 3}},
        messages=[{"content": KILOBYTE}],
    ),
    claim("begin-call-0"),
    claimed("extend the lease of a claim", "extend-call-0", "heartbeat", leaseSeconds=90),
    claimed("complete a claim", "complete-call-0", "complete", output={"hits": 3}),
)
WRITES: Final = (
    CREATE_KEYED,
    ACTIVATE,
    SET,
    Request("change_state", "the same, with an idempotency key", "PATCH", STATE, {"set": {"k": 2}}, KEYED),
    Request("change_state", "increment or append", "PATCH", STATE, {"increment": {"steps": 1}}),
    Request("replace_state", "replace the state", "PUT", STATE, {"k": 2}, {"If-Match": "*"}),
    TOUCH,
    APPEND,
    Request("append_messages", "append two of 1 KB, atomically", "POST", CONTEXT, messages(2, atomic=True)),
    Request("add_checkpoint", "add a checkpoint of 1 KB", "POST", CHECKPOINTS, {"data": KILOBYTE}),
    Request(
        "add_checkpoint", "the same, with an idempotency key", "POST", CHECKPOINTS, {"data": KILOBYTE}, KEYED
    ),
    RECORD,
    *RUNS,
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
    Request("get_recovery", f"recovery, {TOOL_CALLS} tool calls", "GET", f"{SESSION}/recovery"),
    Request("get_claim", "read a claim", "GET", "/claims/begin-call-0"),
    Request("list_audit", "read 20 audit entries", "GET", f"{SESSION}/audit?limit=20"),
    Request("list_sessions", "list the caller's sessions", "GET", "/sessions?limit=20"),
    Request("list_expiring", "list sessions that expire soon", "GET", "/ops/expiring"),
    Request("get_health", "health", "GET", "/health"),
)
DELETE: Final = Request("delete_session", "delete a session without children", "DELETE", SESSION)
DRAIN: Final = Request(
    "drain_sessions", "drain, one session moved", "POST", "/ops/drain", {"withinSeconds": 60}
)


def opened(played: Played, body: object = NEW) -> tuple[str, Spent]:
    """The id of a new session, and what creating it took."""
    session, spent = played.call(CREATE.method, CREATE.path, body)
    return session["sessionId"], spent


def called(played: Played, request: Request, session_id: str, number: int = 0) -> Spent:
    """``number`` identifies the tool call."""
    _, spent = answered(played, request, session_id, number)
    return spent


def answered(played: Played, request: Request, session_id: str, number: int = 0) -> tuple[Any, Spent]:
    path = request.path.replace("call-0", f"call-{number}").format(id=session_id)
    body = request.body
    if request.begun is not None:
        held, _ = answered(played, request.begun, session_id, number)
        played.audited()
        body = with_fence(request, held["fence"])
    return played.call(request.method, path, body, headers=request.headers)


def with_fence(request: Request, fence: int) -> object:
    body: Any = request.body
    return {**body, "fence": fence}
