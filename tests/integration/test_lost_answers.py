"""Of every route the answer of each write is lost: it happens once, or nobody says that it did not."""

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import pytest

from local.emulator import Emulator
from session_api.operations import OPERATIONS
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.settings import Settings
from session_store.store import store_on
from tests.support.api import StoreApi
from tests.support.loss_calls import Case
from tests.support.loss_cases import CASES, SOON
from tests.support.loss_effects import IDLE, moved
from tests.support.loss_scenes import CLAIM, HELD_CALL, TASK, TASKS, Scene
from tests.support.losses import Losses, losses_of
from tests.support.samples import a_call, a_settlement, an_event, settings
from tests.support.tables import create_tables
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WINDOW_DUE: Final = 2_100
WITHOUT_WRITES: Final = {
    ("GET", "/health"),
    ("GET", "/sessions"),
    ("GET", "/claims/{key}"),
    ("GET", "/tasks"),
    ("GET", "/tasks/{taskId}"),
    ("GET", "/ops/expiring"),
    ("GET", "/ops/dlq"),
    ("POST", "/ops/dlq/redrive"),
}
"""Routes that write nothing into the tables; what a redrive does twice, its own tests show."""


@pytest.fixture(scope="module")
def own_tables(emulator: Emulator) -> Settings:
    """Of this module alone: a drain goes over everybody's sessions."""
    name = secrets.token_hex(4)
    named = settings(table=f"lost-{name}", audit_table=f"lost-audit-{name}")
    create_tables(emulator.client("dynamodb"), table=named.table, audit_table=named.audit_table)
    return named


@pytest.fixture
def losses(dynamodb: "DynamoDBClient") -> Losses:
    return losses_of(dynamodb, Deadline())


@pytest.fixture
def scenes(dynamodb: "DynamoDBClient", own_tables: Settings, losses: Losses) -> Callable[[Case], Scene]:
    clock = SettableClock()
    storage = dynamodb_storage(own_tables, dynamodb, losses.deadline)
    store = store_on(storage, own_tables, clock=clock, deadline=losses.deadline)
    api = StoreApi(store)

    def scene(case: Case) -> Scene:
        subject = f"user-{secrets.token_hex(8)}"
        idle = SOON if case.path == "/ops/drain" else IDLE
        made = api.call("POST", "/sessions", {"state": {"n": 0}, "idleTimeout": idle}, subject=subject)
        session_id = made.json["sessionId"]
        parent = api.call("POST", f"/sessions/{session_id}/checkpoints", {"data": "before"}, subject=subject)
        clock.pass_(WINDOW_DUE)
        now = clock.now_ms()
        ids = [store.context.ids.message_id(now) for _ in range(3)]
        return Scene(
            api=api,
            storage=storage,
            subject=subject,
            session_id=made.json["sessionId"],
            ids=ids,
            clock=clock,
            checkpoint_id=parent.json["checkpointId"],
        )

    return scene


def test_every_route_that_writes_has_a_case() -> None:
    routes = {(operation.method, operation.path) for operation in OPERATIONS}
    assert {(case.method, case.path) for case in CASES} == routes - WITHOUT_WRITES


@pytest.mark.parametrize("and_the_time", [False, True], ids=["resent by the store", "resent by the caller"])
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_a_lost_answer_never_acts_twice_and_never_is_a_lie(
    scenes: Callable[[Case], Scene], losses: Losses, case: Case, *, and_the_time: bool
) -> None:
    writes, usual = undisturbed(scenes, losses, case)
    for number in range(writes):
        scene = prepared(scenes, case)
        losses.lose(number, and_the_time=and_the_time)
        answer = case.send(scene)
        assert losses.lost == 1, number
        losses.lose(None)
        if answer.status == 503:
            assert (answer.slug, and_the_time) == ("outcome-unknown", True), number
            assert case.happened(scene) <= 1, number
            if not case.again:
                continue
            answer = case.send(scene)
            assert answer.status in {usual, 200, 404, 412}, answer
        else:
            assert answer.status == usual, answer
        assert case.happened(scene) == 1, number


def undisturbed(scenes: Callable[[Case], Scene], losses: Losses, case: Case) -> tuple[int, int]:
    """How many writes it takes, and what is answered."""
    scene = prepared(scenes, case)
    assert case.happened(scene) == 0
    losses.lose(None)
    answer = case.send(scene)
    writes = len(losses.done)
    assert answer.status < 300, answer
    assert case.happened(scene) == 1
    assert writes >= (2 if case.moves and case.happened is not moved else 1)
    return writes, answer.status


def prepared(scenes: Callable[[Case], Scene], case: Case) -> Scene:
    scene = scenes(case)
    if case.path == f"{TASKS}/claim":
        scene.ask("task")
    elif case.path.startswith(TASK):
        scene.begin(case.path)
    if case.path.startswith((f"{HELD_CALL}/", f"{CLAIM}/")):
        scene.begin(case.path)
        scene.clock.pass_(WINDOW_DUE)
    if case.name == "read a call":
        session = scene.session()
        scene.storage.tool_calls.settle(a_settlement(*a_call(session, "c1"), an_event(session)))
    return scene
