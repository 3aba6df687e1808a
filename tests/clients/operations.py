"""The operations of ``docs/openapi.json``, and the client's functions for them."""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from session_store_client import (
    checkpoint_calls,
    claim_calls,
    message_calls,
    operator_calls,
    session_calls,
    task_calls,
    tool_call_calls,
)
from session_store_client.calls import Call

DOCUMENT: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "docs" / "openapi.json").read_text()
)
OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
MODULES = (
    session_calls,
    message_calls,
    tool_call_calls,
    checkpoint_calls,
    claim_calls,
    task_calls,
    operator_calls,
)
ARGUMENTS: Mapping[str, object] = {
    "session_id": "use1-a",
    "tool_call_id": "c1",
    "data": {"step": 1},
    "namespace": "n",
    "checkpoint_id": "k1",
    "parent_id": "k0",
    "retain_seconds": 900,
    "state": {},
    "protocol": {},
    "credential_refs": ["r"],
    "idle_timeout": 60,
    "max_lifetime": 60,
    "status": "active",
    "limit": 1,
    "cursor": "c",
    "min_version": 3,
    "version": 7,
    "set": {"a": 1},
    "remove": ["b"],
    "increment": {"n": 1},
    "append": {"l": [1]},
    "to": "active",
    "contents": ["x"],
    "message_ids": ["i"],
    "atomic": True,
    "order": "desc",
    "tool_name": "t",
    "input": 1,
    "duration_ms": 1,
    "output": 1,
    "error": 1,
    "started_at": "2026-11-30T08:30:00Z",
    "key": "k1",
    "fence": 1,
    "attempt_id": "a1",
    "lease_seconds": 60,
    "retry_safe": True,
    "messages": [{"content": 1}],
    "tasks": [],
    "expected_version": 3,
    "outcome": "completed",
    "task_id": "t1",
    "payload": 1,
    "kind": "approval",
    "due_at": "2026-11-30T08:30:00Z",
    "deadline": "2026-11-30T08:30:00Z",
    "retain_days": 1,
    "result": 1,
    "following": [],
    "retry_in_seconds": 1,
    "decision": "approved",
    "comment": "fine",
    "within_seconds": 1,
    "queue": "stream",
    "max_tasks": 1,
    "max_letters": 1,
}
"""An argument for each parameter of the client's functions."""


def function_of(operation_id: str) -> Callable[..., Call[Any]]:
    name = re.sub(r"(?<!^)([A-Z])", r"_\1", operation_id).lower()
    (candidate,) = (getattr(module, name) for module in MODULES if hasattr(module, name))
    function: Callable[..., Call[Any]] = candidate
    return function


def whole(operation_id: str) -> Call[Any]:
    """Build a call with every argument."""
    function = function_of(operation_id)
    return function(**{name: ARGUMENTS[name] for name in inspect.signature(function).parameters})
