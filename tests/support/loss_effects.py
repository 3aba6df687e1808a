"""How often something has happened in a scene of lost answers, past the API."""

from collections.abc import Callable
from typing import Any, Final

from session_store.domain.claim import SETTLED
from session_store.domain.page import PageRequest
from session_store.domain.task import TaskStatus
from session_store.schema import session_pk
from tests.support.loss_scenes import Scene

Count = Callable[[Scene], float]
IDLE: Final = 20_000
NEW: Final = "new"


def state(scene: Scene) -> float:
    return float(scene.session().state["n"])


def listed(scene: Scene) -> float:
    return len(scene.session().state.get("l", []))


def kept(scene: Scene) -> float:
    return float(scene.session().state.get("s", 0))


def versions(scene: Scene) -> float:
    return float(scene.session().version - 1)


def new_sessions(scene: Scene) -> float:
    return scene.owned() - 1


def deletions(scene: Scene) -> float:
    trail = scene.storage.audit.page(session_pk(scene.session_id), PageRequest(limit=9))
    gone = scene.storage.sessions.read(scene.session_id) is None
    assert gone == bool(trail.items)
    return len(trail.items)


def messages(scene: Scene) -> float:
    page = scene.storage.messages.page(scene.session_id, PageRequest(limit=99))
    contents = [message.content for message in page.items]
    return max((contents.count(content) for content in {*contents}), default=0)


def checkpoints(scene: Scene) -> float:
    page = scene.storage.checkpoints.page(scene.session_id, "", PageRequest(limit=99))
    return len([checkpoint for checkpoint in page.items if checkpoint.data == NEW])


def records(scene: Scene) -> float:
    return len(scene.storage.tool_calls.page(scene.session_id, PageRequest(limit=9)).items)


def begun_call(scene: Scene) -> float:
    return len(scene.storage.tool_calls.unsettled(scene.session_id))


def completions(scene: Scene) -> float:
    """Of the call and of all that changes with it: once, or not at all."""
    changes = [records(scene), messages(scene), state(scene)]
    assert len(set(changes)) == 1, changes
    return changes[0]


def new_tasks(scene: Scene) -> float:
    return len(scene.tasks())


def tasks_of(*statuses: TaskStatus) -> Count:
    return lambda scene: [task.status for task in scene.tasks()].count(*statuses)


def task_renewed(scene: Scene) -> float:
    return float(scene.tasks()[0].lease_until_ms > scene.clock.now_ms() + 100_000)


def given_back(scene: Scene) -> float:
    (task,) = scene.tasks()
    return float(task.error == "broken" and task.status is TaskStatus.PENDING)


def followed(scene: Scene) -> float:
    """The end of the task and what follows it: both, or neither."""
    tasks = scene.tasks()
    ended = [task.status for task in tasks].count(TaskStatus.COMPLETED)
    assert len(tasks) == 1 + ended
    return ended


def renewed(scene: Scene) -> float:
    return float(claim_of(scene).lease_until_ms > scene.clock.now_ms() + 100_000)


def ended(scene: Scene) -> float:
    return float(claim_of(scene).status in SETTLED)


def freed(scene: Scene) -> float:
    return float(claim_of(scene).retry_safe)


def claim_of(scene: Scene) -> Any:
    """The call's claim, or the free one."""
    claim = scene.storage.tool_calls.read_call(scene.session_id, "c1").claim
    return claim or scene.storage.claims.read(scene.free_key)


def begun_claim(scene: Scene) -> float:
    return float(scene.storage.claims.read(scene.free_key) is not None)


def moved(scene: Scene) -> float:
    return float(scene.session().ttl > scene.session().created_at // 1000 + IDLE)
