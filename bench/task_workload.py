"""The priced operations of tasks: each step once, with a payload of 1 KB."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bench.lives import Row
from bench.played import Played
from bench.workload import KILOBYTE

QUEUE: Final = "priced"
REQUESTER: Final = {"Session-Subject": "requester"}
KEYED: Final = {"Idempotency-Key": "a priced task"}
NEW: Final = {"queue": QUEUE, "payload": KILOBYTE}
FOLLOWED: Final = {"result": 1, "next": [NEW]}


@dataclass(frozen=True, slots=True)
class Step:
    """``path`` is that of the task left by the steps before; ``fenced`` sends its fence."""

    operation: str
    label: str
    method: str
    path: str
    body: Mapping[str, object] | None = None
    headers: Mapping[str, str] | None = None
    fenced: bool = False


CLAIM: Final = Step(
    "claim_tasks", "claim a task", "POST", "/tasks/claim", {"queue": QUEUE, "leaseSeconds": 60, "max": 1}
)


def held(operation: str, label: str, step: str, body: Mapping[str, object]) -> Step:
    """A step of the worker that holds the task."""
    return Step(operation, label, "POST", f"/tasks/{{id}}/{step}", body, fenced=True)


STEPS: Final = (
    Step(CLAIM.operation, "claim a task from an empty queue", CLAIM.method, CLAIM.path, CLAIM.body),
    Step("create_task", "create a task of 1 KB", "POST", "/tasks", NEW),
    Step("get_task", "read a task", "GET", "/tasks/{id}"),
    Step("list_tasks", "list a queue of one task", "GET", f"/tasks?queue={QUEUE}"),
    CLAIM,
    held("extend_task", "extend the lease of a task", "heartbeat", {"leaseSeconds": 90}),
    held("fail_task", "fail a task, to be retried", "fail", {"error": 1, "retryInSeconds": 0}),
    CLAIM,
    held("complete_task", "complete a task", "complete", {"result": 1}),
    Step("create_task", "create a task, with an idempotency key", "POST", "/tasks", NEW, KEYED),
    CLAIM,
    held("complete_task", "complete a task and create the next", "complete", FOLLOWED),
    CLAIM,
    Step("cancel_task", "cancel a task", "POST", "/tasks/{id}/cancel"),
    Step("create_task", "request an approval", "POST", "/tasks", {**NEW, "kind": "approval"}, REQUESTER),
    Step("decide_task", "decide an approval", "POST", "/tasks/{id}/decide", {"decision": "approved"}),
)
"""In this order; a repeated step is priced the first time."""


def task_rows(played: Played) -> Iterator[Row]:
    task: dict[str, Any] = {}
    seen: set[str] = set()
    for step in STEPS:
        body = None if step.body is None else dict(step.body)
        if body is not None and step.fenced:
            body["fence"] = task["fence"]
        path = step.path.format(id=task.get("taskId", ""))
        answer, spent = played.call(step.method, path, body, headers=step.headers)
        told = played.audited().usage()
        if "taskId" in answer:
            task = answer
        elif step.operation == CLAIM.operation and answer["items"]:
            (task,) = answer["items"]
        if step.label not in seen:
            yield Row(step.label, spent, told, operation=step.operation)
        seen.add(step.label)
