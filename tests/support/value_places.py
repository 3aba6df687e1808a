"""The places where a program gives the library a value, each with the path that names it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from session_store.domain.claim import ClaimStatus
from session_store.domain.page import PageRequest
from session_store.domain.state_operations import StateOperations
from session_store.services.context import NewMessage
from session_store.services.free_claims import ClaimOutcome, NewClaim
from session_store.services.new_checkpoints import NewCheckpoint
from session_store.services.new_sessions import NewSession
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tool_calls.begin import NewCall
from session_store.services.tool_calls.record import RecordedCall
from session_store.services.tool_calls.requests import CallOutcome, SessionChange
from session_store.store import Store
from tests.support.samples import ALICE
from tests.support.task_samples import WORKER


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A session of its own, and a name for what is written beside it."""

    store: Store
    session_id: str
    name: str


def created(store: Store, **given: Any) -> Any:
    parts: dict[str, Any] = {"state": {"kept": 1}, "protocol": {}, "credential_refs": (), **given}
    return store.sessions.create(ALICE, NewSession(idle_timeout=600, max_lifetime=3600, **parts))


def in_a_new_state(scene: Scene, value: Any) -> Any:
    session = created(scene.store, state={"v": value})
    return scene.store.sessions.get(ALICE, session.session_id).state["v"]


def in_the_protocol(scene: Scene, value: Any) -> Any:
    session = created(scene.store, protocol={"v": value})
    return scene.store.sessions.get(ALICE, session.session_id).protocol["v"]


def in_a_replaced_state(scene: Scene, value: Any) -> Any:
    scene.store.sessions.replace_state(ALICE, scene.session_id, {"v": value}, version=None)
    return scene.store.sessions.get(ALICE, scene.session_id).state["v"]


def as_set(scene: Scene, value: Any) -> Any:
    changed = scene.store.sessions.change_state(ALICE, scene.session_id, StateOperations(set={"v": value}))
    return changed.state["v"]


def as_appended(scene: Scene, value: Any) -> Any:
    operations = StateOperations(append={"v": [value]})
    return scene.store.sessions.change_state(ALICE, scene.session_id, operations).state["v"][0]


def in_a_message(scene: Scene, value: Any) -> Any:
    scene.store.context.append(ALICE, scene.session_id, [NewMessage(content=value)])
    page: PageRequest[Any] = PageRequest(limit=1, descending=True)
    return scene.store.context.page(ALICE, scene.session_id, page).items[0].content


def in_a_checkpoint(scene: Scene, value: Any) -> Any:
    scene.store.checkpoints.add(ALICE, scene.session_id, NewCheckpoint(data=value))
    return scene.store.checkpoints.latest(ALICE, scene.session_id).data


def _begun(scene: Scene, value: Any) -> Any:
    call = NewCall(tool_call_id=scene.name, tool_name="t", input=value)
    return scene.store.running_calls.begin(ALICE, scene.session_id, call).claim


def _call(scene: Scene) -> Any:
    return scene.store.tool_calls.get(ALICE, scene.session_id, scene.name)


def as_a_calls_input(scene: Scene, value: Any) -> Any:
    _begun(scene, value)
    return _call(scene).input


def finished(scene: Scene, outcome: CallOutcome, **change: Any) -> None:
    scene.store.finished_calls.finish(
        ALICE,
        scene.session_id,
        scene.name,
        fence=_begun(scene, 1).fence,
        outcome=outcome,
        change=SessionChange(**change),
    )


def as_a_calls_output(scene: Scene, value: Any) -> Any:
    finished(scene, CallOutcome(status=ClaimStatus.COMPLETED, output=value))
    return _call(scene).output


def as_a_calls_error(scene: Scene, value: Any) -> Any:
    finished(scene, CallOutcome(status=ClaimStatus.FAILED, error=value))
    return _call(scene).error


def in_a_calls_change(scene: Scene, value: Any) -> Any:
    outcome = CallOutcome(status=ClaimStatus.COMPLETED)
    finished(scene, outcome, operations=StateOperations(set={"v": value}))
    return scene.store.sessions.get(ALICE, scene.session_id).state["v"]


def in_a_recorded_call(scene: Scene, value: Any) -> Any:
    call = RecordedCall(
        tool_call_id=scene.name,
        tool_name="t",
        input=1,
        output=value,
        error=None,
        duration_ms=1,
        started_at=None,
    )
    scene.store.recorded_calls.record(ALICE, scene.session_id, call)
    return _call(scene).output


def as_a_claims_input(scene: Scene, value: Any) -> Any:
    scene.store.claims.begin(ALICE, scene.name, NewClaim(input=value))
    return scene.store.claims.get(ALICE, scene.name).input


def as_a_claims_output(scene: Scene, value: Any) -> Any:
    claim = scene.store.claims.begin(ALICE, scene.name, NewClaim(input=1))
    outcome = ClaimOutcome(status=ClaimStatus.COMPLETED, output=value)
    scene.store.claims.complete(ALICE, scene.name, fence=claim.fence, outcome=outcome)
    return scene.store.claims.get(ALICE, scene.name).output


def _task(scene: Scene, payload: Any) -> Any:
    return scene.store.tasks.create(WORKER, NewTask(queue=scene.name, payload=payload))


def as_a_tasks_payload(scene: Scene, value: Any) -> Any:
    return scene.store.tasks.get(WORKER, _task(scene, value).task_id).payload


def _claimed(scene: Scene) -> Any:
    _task(scene, 1)
    (task,) = scene.store.task_work.claim(WORKER, queue=scene.name, lease_seconds=60)
    return task


def as_a_tasks_result(scene: Scene, value: Any) -> Any:
    task = _claimed(scene)
    scene.store.task_work.complete(WORKER, task.task_id, fence=task.fence, result=value)
    return scene.store.tasks.get(WORKER, task.task_id).result


def as_a_tasks_error(scene: Scene, value: Any) -> Any:
    task = _claimed(scene)
    scene.store.task_work.fail(WORKER, task.task_id, fence=task.fence, error=value)
    return scene.store.tasks.get(WORKER, task.task_id).error


Place = Callable[[Scene, Any], Any]

PLACES: Final[dict[Place, str]] = {
    in_a_new_state: "$.state.v",
    in_the_protocol: "$.protocol.v",
    in_a_replaced_state: "$.v",
    as_set: "$.set.v",
    as_appended: "$.append.v[0]",
    in_a_message: "$.messages[0].content",
    in_a_checkpoint: "$.data",
    as_a_calls_input: "$.input",
    as_a_calls_output: "$.output",
    as_a_calls_error: "$.error",
    in_a_calls_change: "$.state.set.v",
    in_a_recorded_call: "$.output",
    as_a_claims_input: "$.input",
    as_a_claims_output: "$.output",
    as_a_tasks_payload: "$.payload",
    as_a_tasks_result: "$.result",
    as_a_tasks_error: "$.error",
}
"""Each writes the value and reads it back."""
