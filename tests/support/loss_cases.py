"""Of each route that writes, the calls whose answers are lost, and what each of them does once."""

from typing import Final

from session_store.domain.task import TaskStatus
from tests.support.loss_calls import a_case, adding, appending, creating, held_case, patch_case, task_case
from tests.support.loss_effects import (
    IDLE,
    begun_call,
    begun_claim,
    checkpoints,
    completions,
    deletions,
    ended,
    followed,
    freed,
    given_back,
    kept,
    listed,
    messages,
    moved,
    new_sessions,
    new_tasks,
    records,
    renewed,
    state,
    task_renewed,
    tasks_of,
    versions,
)
from tests.support.loss_scenes import BEGIN, CLAIM, HELD_CALL, SESSION, TASKS, taking

CALL: Final = {"toolName": "search", "input": {"q": 1}, "output": "found", "durationMs": 3}
SOON: Final = 4_000
"""Seconds that the sessions live which a drain is to find; it does not look as far as the others' ends."""

LONG: Final = {"idleTimeout": IDLE}
KEY: Final = {"Idempotency_Key": "k"}
FIRST: Final = {"If_Match": '"1"'}
INCREMENT: Final = {"increment": {"n": 1}}
APPEND: Final = {"append": {"l": [1]}}
CASES: Final = [
    a_case("create", "POST", "/sessions", new_sessions, LONG, again=False, moves=False),
    a_case("create with a key", "POST", "/sessions", new_sessions, LONG, headers=KEY, moves=False),
    a_case("replace", "PUT", f"{SESSION}/state", versions, {"s": 1}, headers=FIRST),
    patch_case("set", kept, {"set": {"s": 1}}),
    patch_case("set with a key", versions, {"set": {"s": 1}}, headers=KEY),
    patch_case("set at a version", versions, {"set": {"s": 1}}, headers=FIRST),
    patch_case("increment", state, INCREMENT, again=False),
    patch_case("increment with a key", state, INCREMENT, headers=KEY),
    patch_case("increment at a version", state, INCREMENT, headers=FIRST),
    patch_case("increment at a version with a key", state, INCREMENT, headers={**KEY, **FIRST}),
    patch_case("append", listed, APPEND, again=False),
    patch_case("append with a key", listed, APPEND, headers=KEY),
    a_case("move", "POST", f"{SESSION}/status", versions, {"to": "active"}),
    a_case("touch", "POST", f"{SESSION}/touch", moved),
    a_case("delete", "DELETE", SESSION, deletions, moves=False),
    a_case("drain", "POST", "/ops/drain", versions, {"withinSeconds": SOON}, moves=False),
    *(
        a_case(
            f"append {count} messages{' with ids' * named}{' atomically' * atomic}",
            "POST",
            f"{SESSION}/context",
            messages,
            send=appending(count=count, named=named, atomic=atomic),
            again=named,
        )
        for count in (1, 3)
        for named in (False, True)
        for atomic in (False, True)
    ),
    *(
        a_case(
            f"add a checkpoint{' with an id' * named}{' with a key' * bool(key)}{' and a parent' * parent}",
            "POST",
            f"{SESSION}/checkpoints",
            checkpoints,
            send=adding(named=named, parent=parent, **key),
            again=named or bool(key),
        )
        for named in (False, True)
        for key in ({}, KEY)
        for parent in (False, True)
    ),
    a_case("read a checkpoint", "GET", f"{SESSION}/checkpoints/{{checkpointId}}", moved),
    a_case("record", "PUT", f"{SESSION}/tool-calls/{{toolCallId}}", records, CALL),
    a_case("begin", "POST", f"{SESSION}/tool-calls", begun_call, {**BEGIN, "attemptId": "a"}),
    held_case(HELD_CALL, "complete", records, output="found"),
    held_case(
        HELD_CALL,
        "complete",
        completions,
        "with its session",
        output="found",
        state={"increment": {"n": 1}},
        messages=[{"content": "of the call"}],
        status={"to": "closing"},
    ),
    held_case(HELD_CALL, "fail", records, error="broken"),
    held_case(HELD_CALL, "heartbeat", renewed, leaseSeconds=200),
    held_case(HELD_CALL, "reconcile", records, outcome="completed", output=1),
    held_case(HELD_CALL, "reconcile", freed, "to try again", outcome="retry"),
    a_case("claim a key", "PUT", CLAIM, begun_claim, {"input": 1, "attemptId": "a"}, moves=False),
    held_case(CLAIM, "complete", ended, output="found"),
    held_case(CLAIM, "fail", ended, error="broken"),
    held_case(CLAIM, "heartbeat", renewed, leaseSeconds=200),
    held_case(CLAIM, "reconcile", ended, outcome="failed", error=1),
    a_case("create a task", "POST", TASKS, new_tasks, send=creating(), again=False, moves=False),
    a_case("create a task with a key", "POST", TASKS, new_tasks, send=creating(headers=KEY), moves=False),
    a_case(
        "create a task of a session with a key",
        "POST",
        TASKS,
        new_tasks,
        send=creating(headers=KEY, sessionId=""),
    ),
    a_case(
        "claim a task",
        "POST",
        f"{TASKS}/claim",
        tasks_of(TaskStatus.CLAIMED),
        send=lambda scene: scene.call("POST", f"{TASKS}/claim", taking(scene)),
        moves=False,
    ),
    task_case("heartbeat", task_renewed, leaseSeconds=200),
    task_case("complete", tasks_of(TaskStatus.COMPLETED), result=1),
    task_case("complete", followed, "a task with another", result=1, next=True),
    task_case("fail", given_back, error="broken"),
    task_case("cancel", tasks_of(TaskStatus.CANCELLED)),
    task_case("decide", tasks_of(TaskStatus.APPROVED), decision="approved"),
    a_case("recovery", "GET", f"{SESSION}/recovery", moved),
    a_case("read a call", "GET", f"{SESSION}/tool-calls/{{toolCallId}}", moved),
    *(
        a_case(f"read {part}", "GET", f"{SESSION}{part}", moved)
        for part in (
            "",
            "/context",
            "/checkpoints",
            "/checkpoints/latest",
            "/tool-calls",
            "/history",
            "/audit",
        )
    ),
]
