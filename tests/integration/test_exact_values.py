"""A value that a program gives the library comes back equal, or is refused by its path, wherever it goes."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest

from session_store.domain.claim import ClaimStatus
from session_store.domain.state_operations import StateOperations
from session_store.domain.task import TaskKind, TaskStatus
from session_store.errors import InvalidRequestError
from session_store.ports import Storage
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tool_calls.requests import CallOutcome
from session_store.store import store_on
from tests.support.samples import ALICE, settings
from tests.support.task_samples import APPROVER
from tests.support.value_places import PLACES, Place, Scene, created, finished, in_a_message


class Step(StrEnum):
    PLAN = "plan"


@pytest.fixture
def scene(storage: Storage) -> Scene:
    store = store_on(storage, settings())
    return Scene(store=store, session_id=created(store).session_id, name=secrets.token_hex(8))


REFUSED: list[tuple[Any, str]] = [
    (float("nan"), ""),
    (1.5, ""),
    ([1, {"a": float("inf")}], "[1].a"),
    (10**38 + 1, ""),
    (10**126, ""),
    (-(10**126), ""),
    (Decimal("NaN"), ""),
    (Decimal("-Infinity"), ""),
    (Decimal("1E-131"), ""),
    (Decimal("0." + "9" * 39), ""),
    (b"bytes", ""),
    ({1, 2}, ""),
    ((1, 2), ""),
    (Step.PLAN, ""),
    ("\ud800", ""),
    ({"a": "\udc00"}, ".a"),
    ({"\ud800": 1}, " (a key)"),
    ({1: 2}, ""),
    ({"a": [{Step.PLAN: 1}]}, ".a[0]"),
]

ADMITTED = [
    None,
    True,
    0,
    -(10**37),
    (10**38 - 1) * 10**88,
    Decimal("19.90"),
    Decimal("1." + "0" * 50),
    Decimal("0E-500"),
    Decimal("-1E-130"),
    Decimal("9.9E+125"),
    OrderedDict(b=[], a=""),
    [[], {}, "\U0001f600", {"größe": None}],
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(place.__name__))
def test_a_value_that_could_not_come_back_is_refused_by_its_path(scene: Scene, place: Place) -> None:
    for value, where in REFUSED:
        with pytest.raises(InvalidRequestError) as refused:
            place(replace(scene, name=secrets.token_hex(8)), value)
        assert refused.value.facts["path"] == f"{PLACES[place]}{where}"
    assert scene.store.sessions.get(ALICE, scene.session_id).state == {"kept": 1}


@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(place.__name__))
def test_a_value_comes_back_equal(scene: Scene, place: Place) -> None:
    assert place(scene, ADMITTED) == ADMITTED


def test_a_value_that_contains_itself_is_refused(scene: Scene) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InvalidRequestError, match="Nested deeper"):
        in_a_message(scene, endless)


@pytest.mark.parametrize(
    ("operations", "path"),
    [
        (StateOperations(increment={"n": Decimal("NaN")}), "$.increment.n"),
        (StateOperations(increment={"n": 10**38 + 1}), "$.increment.n"),
        (StateOperations(increment={"n": 1.5}), "$.increment.n"),  # type: ignore[dict-item] # what callers send
        (StateOperations(increment={"\ud800": 1}), "$.increment (a key)"),
        (StateOperations(set={5: 1}), "$.set"),  # type: ignore[dict-item] # likewise
        (StateOperations(remove=["a", "\ud800"]), "$.remove"),
        (StateOperations(remove=[5]), "$.remove"),  # type: ignore[list-item] # likewise
    ],
)
def test_an_operation_that_no_state_can_take_is_refused_by_its_path(
    scene: Scene, operations: StateOperations, path: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        scene.store.sessions.change_state(ALICE, scene.session_id, operations)
    assert refused.value.facts["path"] == path


def test_a_comment_that_no_text_can_hold_is_refused_by_its_path(scene: Scene) -> None:
    new = NewTask(queue=scene.name, payload=1, kind=TaskKind.APPROVAL)
    task = scene.store.tasks.create(ALICE, new)
    with pytest.raises(InvalidRequestError) as refused:
        scene.store.approvals.decide(APPROVER, task.task_id, decision=TaskStatus.APPROVED, comment="\ud800")
    assert refused.value.facts["path"] == "$.comment"


def adding(scene: Scene, operations: StateOperations) -> None:
    scene.store.sessions.change_state(ALICE, scene.session_id, operations)


def adding_under_a_key(scene: Scene, operations: StateOperations) -> None:
    scene.store.keyed_sessions.change_state(ALICE, scene.session_id, operations, key=scene.name)


def adding_with_a_call(scene: Scene, operations: StateOperations) -> None:
    finished(scene, CallOutcome(status=ClaimStatus.COMPLETED), operations=operations)


@pytest.mark.parametrize(
    ("add", "at"), [(adding, "$"), (adding_under_a_key, "$"), (adding_with_a_call, "$.state")]
)
def test_a_sum_that_no_number_holds_is_refused_by_the_path_of_its_increment(
    scene: Scene, add: Callable[[Scene, StateOperations], None], at: str
) -> None:
    scene.store.sessions.change_state(ALICE, scene.session_id, StateOperations(set={"big": 9 * 10**125}))
    with pytest.raises(InvalidRequestError) as refused:
        add(scene, StateOperations(increment={"kept": 1, "big": 9 * 10**125, "new": 1}))
    assert refused.value.facts["path"] == f"{at}.increment.big"
    assert scene.store.sessions.get(ALICE, scene.session_id).state == {"kept": 1, "big": 9 * 10**125}


@pytest.mark.parametrize("state", [[1], "text", None])
def test_a_state_is_a_map(scene: Scene, state: Any) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        scene.store.sessions.replace_state(ALICE, scene.session_id, state, version=None)
    assert refused.value.facts["path"] == "$"
