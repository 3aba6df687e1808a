"""Durations and instants that a program passes to the library are whole numbers within the API's bounds."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from session_store.domain.claim import ClaimStatus
from session_store.domain.state_operations import StateOperations
from session_store.errors import InvalidRequestError
from session_store.services.free_claims import NewClaim
from session_store.services.new_checkpoints import NewCheckpoint
from session_store.services.new_sessions import NewSession
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tool_calls.begin import NewCall
from session_store.services.tool_calls.record import RecordedCall
from session_store.services.tool_calls.requests import CallOutcome
from tests.support.samples import ALICE, NOW_MS
from tests.support.task_samples import WORKER
from tests.support.world import World

Use = Callable[[World, str, Any], object]
SESSION: dict[str, Any] = {
    "idle_timeout": 600,
    "max_lifetime": 600,
    "state": {},
    "protocol": {},
    "credential_refs": (),
}
RECORD: dict[str, Any] = {
    "tool_call_id": "c",
    "tool_name": "t",
    "input": 1,
    "output": 1,
    "error": None,
    "duration_ms": 1,
    "started_at": None,
}


def create(name: str) -> Use:
    return lambda world, _, value: world.store.sessions.create(ALICE, NewSession(**{**SESSION, name: value}))


def record(name: str) -> Use:
    return lambda world, session_id, value: world.store.recorded_calls.record(
        ALICE, session_id, RecordedCall(**{**RECORD, name: value})
    )


def task(name: str) -> Use:
    def use(world: World, _: str, value: Any) -> object:
        changed: dict[str, Any] = {name: value}
        return world.store.tasks.create(ALICE, NewTask(queue="q", payload=1, **changed))

    return use


def complete(world: World, session_id: str, value: Any) -> object:
    outcome = CallOutcome(status=ClaimStatus.COMPLETED, output=1, duration_ms=value)
    return world.store.finished_calls.finish(ALICE, session_id, "c", fence=1, outcome=outcome)


def fail_task(world: World, _: str, value: Any) -> object:
    return world.store.task_work.fail(WORKER, "use1-" + "a" * 32, fence=1, error=None, retry_in=value)


USES: list[tuple[str, Use]] = [
    ("$.idleTimeout", create("idle_timeout")),
    ("$.maxLifetime", create("max_lifetime")),
    ("$.durationMs", record("duration_ms")),
    ("$.startedAt", record("started_at")),
    ("$.durationMs", complete),
    (
        "$.leaseSeconds",
        lambda world, session_id, value: world.store.running_calls.begin(
            ALICE, session_id, NewCall(tool_call_id="c", tool_name="t", input=1, lease_seconds=value)
        ),
    ),
    (
        "$.retainSeconds",
        lambda world, session_id, value: world.store.checkpoints.add(
            ALICE, session_id, NewCheckpoint(data=1, retain_seconds=value)
        ),
    ),
    (
        "$.retainSeconds",
        lambda world, _, value: world.store.claims.begin(
            ALICE, "key", NewClaim(input=1, retain_seconds=value)
        ),
    ),
    ("$.retainDays", task("retain_days")),
    ("$.dueAt", task("due_at")),
    ("$.deadline", task("deadline")),
    ("$.retryInSeconds", fail_task),
]
"""The path that a refusal names, and a use case that takes a number there."""


@pytest.mark.parametrize("value", [Decimal("1000.5"), 1000.0, "1000", True, -5, 10**20])
@pytest.mark.parametrize(("path", "use"), USES)
def test_what_is_no_whole_number_within_bounds_is_refused_with_its_path(
    path: str, use: Use, value: object
) -> None:
    world = World()
    session_id = world.open().session_id
    with pytest.raises(InvalidRequestError) as refused:
        use(world, session_id, value)
    assert refused.value.facts["path"] == path


def test_the_keys_to_remove_are_no_text(world: World) -> None:
    session_id = world.open().session_id
    removal: Any = "abc"
    with pytest.raises(InvalidRequestError, match="must be a list"):
        world.store.sessions.change_state(ALICE, session_id, StateOperations(remove=removal))


def test_bounds_themselves_are_taken(world: World) -> None:
    new = NewSession(**{**SESSION, "idle_timeout": 10, "max_lifetime": 7_776_000})
    created = world.store.sessions.create(ALICE, new)
    assert (created.ttl, created.max_expires_at) == (NOW_MS // 1000 + 10, NOW_MS // 1000 + 7_776_000)
