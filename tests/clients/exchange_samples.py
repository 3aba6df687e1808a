"""A call of each kind, with the refusals and losses that an attempt may meet."""

from typing import Any

from session_store_client import errors, message_calls, operator_calls, session_calls, tool_call_calls
from session_store_client.calls import Call, Repeat
from session_store_client.exchanges import StepResult
from tests.support.client_answers import SESSION, SESSION_ID, lost, ok, problem

GET = session_calls.get_session(SESSION_ID)
CREATE = session_calls.create_session()
CHANGE = session_calls.change_state(SESSION_ID, increment={"n": 1})
REPLACE = session_calls.replace_state(SESSION_ID, {"a": 1}, version=3)
MOVE = session_calls.move_session(SESSION_ID, "active")
TOUCH = session_calls.touch_session(SESSION_ID)
DELETE = session_calls.delete_session(SESSION_ID)
APPEND = message_calls.append_messages(SESSION_ID, ["hello"])
RECORD = tool_call_calls.record_tool_call(SESSION_ID, "c1", tool_name="t", input=None, duration_ms=1)
BEGIN = tool_call_calls.begin_tool_call(SESSION_ID, "c1", tool_name="t", input=None)
BEAT = tool_call_calls.extend_tool_call(SESSION_ID, "c1", fence=1, lease_seconds=60)
COMPLETE = tool_call_calls.complete_tool_call(SESSION_ID, "c1", fence=1, output=None)
RECONCILE = tool_call_calls.reconcile_tool_call(SESSION_ID, "c1", fence=1, outcome="failed")
DRAIN = operator_calls.drain_sessions(within_seconds=60)
REDRIVE = operator_calls.redrive_dead_letters()

WRITES: list[Call[Any]] = [
    CREATE,
    CHANGE,
    REPLACE,
    MOVE,
    DELETE,
    APPEND,
    RECORD,
    BEGIN,
    COMPLETE,
    RECONCILE,
    DRAIN,
    REDRIVE,
]
EVERY: list[Call[Any]] = [GET, TOUCH, BEAT, *WRITES]
REPEATED = [call for call in EVERY if call.repeat is not Repeat.NEVER]
NOT_DONE = [problem(503, "throttled", wait=1), problem(429, "throttled", wait=1), lost(sent=False)]
DOUBTFUL = [lost(), problem(500, "internal"), problem(504, "internal"), problem(503, "outcome-unknown")]
REFUSALS = {
    "version-conflict": (412, errors.VersionConflictError),
    "session-closed": (409, errors.SessionClosedError),
    "invalid-transition": (409, errors.InvalidTransitionError),
    "already-decided": (409, errors.AlreadyDecidedError),
    "fenced": (409, errors.FencedError),
    "session-not-found": (404, errors.SessionNotFoundError),
    "idempotency-mismatch": (422, errors.IdempotencyMismatchError),
    "forbidden": (403, errors.ForbiddenError),
    "unauthenticated": (401, errors.UnauthenticatedError),
    "invalid-request": (400, errors.InvalidRequestError),
}


def named(value: object) -> str:
    return f"{value.method} {value.path.rpartition('/')[2]}" if isinstance(value, Call) else str(value)[:40]


def success(call: Call[Any]) -> StepResult:
    if call.method == "DELETE":
        return ok(None, status=204)
    record = {
        "toolCallId": "c1",
        "toolName": "t",
        "status": "completed",
        "input": None,
        "output": None,
        "error": None,
        "startedAt": "2026-11-30T08:30:00.123Z",
        "completedAt": None,
        "durationMs": 1,
        "fence": 1,
        "leaseUntil": None,
    }
    bodies: dict[str, object] = {
        "AppendedMessages": {"items": []},
        "ToolCall": record,
        "BegunToolCall": {**record, "downstreamToken": "t"},
        "FinishedToolCall": {**record, "session": None, "tasks": []},
        "OpenCall": {**record, "status": "in_progress", "leaseUntil": "z", "retrySafe": False},
        "Drained": {"moved": 1, "skipped": 0, "more": False},
        "Redriven": {"items": [], "more": False},
    }
    return ok(bodies.get(call.answer.__name__, SESSION))
