"""What a case of a lost answer plays in: a caller, a session, and what has been begun there."""

from dataclasses import dataclass
from typing import Any, Final

from session_store.domain.free_claim import free_key_hash
from session_store.domain.page import PageRequest
from session_store.domain.task import OPEN, TaskStatus
from session_store.domain.task_writes import TaskFilter
from session_store.ports import Storage
from tests.support.api import Answer, StoreApi
from tests.support.world import SettableClock

SESSION: Final = "/sessions/{sessionId}"
HELD_CALL: Final = "/sessions/{sessionId}/tool-calls/{toolCallId}"
CLAIM: Final = "/claims/{key}"
TASKS: Final = "/tasks"
TASK: Final = "/tasks/{taskId}"
BEGIN: Final = {"toolCallId": "c1", "toolName": "search", "input": {"q": 1}}
SETTLED_TASKS: Final = sorted(set(TaskStatus) - OPEN)


@dataclass(kw_only=True)
class Scene:
    """A caller with one session, whose window is due to move."""

    api: StoreApi
    storage: Storage
    subject: str
    session_id: str
    ids: list[str]
    clock: SettableClock
    fence: int = 0
    """Of the call, the claim or the task that has been begun."""

    task_id: str = ""
    checkpoint_id: str = ""
    """Of one that is there."""

    def call(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        path = path.replace("{sessionId}", self.session_id).replace("{toolCallId}", "c1")
        path = path.replace("{key}", self.session_id).replace("{taskId}", self.task_id)
        path = path.replace("{checkpointId}", self.checkpoint_id)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.api.call(method, path, body, headers=named, subject=self.subject)

    @property
    def free_key(self) -> str:
        tenant = self.storage.sessions.read(self.session_id)
        assert tenant is not None
        return free_key_hash(tenant.owner, self.session_id)

    @property
    def queue(self) -> str:
        """Of this scene alone."""
        return self.subject

    def ask(self, kind: str, **body: object) -> None:
        """For a task or an approval, as another subject."""
        whole = {"queue": self.queue, "payload": 1, "kind": kind, **body}
        self.task_id = self.api.call("POST", TASKS, whole, subject="requester").json["taskId"]

    def tasks(self) -> list[Any]:
        """All there are in the queue, whatever has become of them."""
        now_ms = self.clock.now_ms()
        return [
            task
            for status in (None, *SETTLED_TASKS)
            for task in self.storage.tasks.page(
                self.session().owner.tenant,
                TaskFilter(queue=self.queue, status=status),
                now_ms=now_ms,
                page=PageRequest(limit=99),
            ).items
        ]

    def begin(self, path: str) -> None:
        """What the case goes on with."""
        if path.startswith(TASK):
            self.ask("approval" if path.endswith("/decide") else "task")
            (task,) = self.call("POST", f"{TASKS}/claim", taking(self)).json["items"] or [{"fence": 0}]
            self.fence = task["fence"]
            return
        claims = path.startswith("/claims")
        held = f"/claims/{self.session_id}" if claims else f"{SESSION}/tool-calls"
        begun = self.call("PUT" if claims else "POST", held, {"input": 1} if claims else BEGIN)
        assert begun.status == 201, begun
        self.fence = begun.json["fence"]

    def session(self) -> Any:
        session = self.storage.sessions.read(self.session_id)
        assert session is not None
        return session

    def owned(self) -> int:
        return len(self.call("GET", "/sessions").json["items"])


def taking(scene: Scene) -> dict[str, Any]:
    return {"queue": scene.queue, "leaseSeconds": 60, "max": 1}
