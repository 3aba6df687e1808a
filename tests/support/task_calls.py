"""A queue of its own over the API, and what is done there."""

import secrets
from collections.abc import Callable
from typing import Any

from tests.support.api import Answer, StoreApi

NUMBERS = {"q": "x", "n": 0.1, "big": 9007199254740993}
"""A payload that loses nothing on its way."""


class Queue:
    """``name`` is of no other test."""

    def __init__(self, api: StoreApi, name: str | None = None) -> None:
        self.api = api
        self.name = name or f"q-{secrets.token_hex(8)}"

    def create(
        self, payload: object = 1, *, headers: Any = None, subject: str = "alice", **body: Any
    ) -> Answer:
        whole = {"queue": self.name, "payload": payload, **body}
        return self.api.call("POST", "/tasks", whole, headers=headers, subject=subject)

    def created(self, payload: object = 1, **body: Any) -> str:
        answer = self.create(payload, **body)
        assert answer.status == 201, answer
        task_id: str = answer.json["taskId"]
        return task_id

    def claim(self, *, seconds: int = 60, most: int = 1, subject: str = "worker-1") -> Answer:
        body = {"queue": self.name, "leaseSeconds": seconds, "max": most}
        return self.api.call("POST", "/tasks/claim", body, subject=subject)

    def claimed(self, **how: Any) -> Any:
        """The one task that is taken."""
        answer = self.claim(**how)
        assert answer.status == 200, answer
        (task,) = answer.json["items"]
        return task

    def nothing_due(self) -> bool:
        answer = self.claim()
        assert answer.status == 200, answer
        return answer.json["items"] == []  # type: ignore[no-any-return] # of JSON

    def step(self, task: Any, name: str, *, subject: str = "worker-1", **body: Any) -> Answer:
        """Of whoever holds the task as it is given."""
        path = f"/tasks/{task['taskId']}/{name}"
        return self.api.call("POST", path, {"fence": task["fence"], **body}, subject=subject)

    def complete(self, task: Any, result: object = "done", **body: Any) -> Answer:
        return self.step(task, "complete", result=result, **body)

    def fail(self, task: Any, error: object = "broken", **body: Any) -> Answer:
        return self.step(task, "fail", error=error, **body)

    def heartbeat(self, task: Any, seconds: int = 60) -> Answer:
        return self.step(task, "heartbeat", leaseSeconds=seconds)

    def decide(
        self, task_id: str, decision: str = "approved", *, subject: str = "boss", **body: Any
    ) -> Answer:
        path = f"/tasks/{task_id}/decide"
        return self.api.call("POST", path, {"decision": decision, **body}, subject=subject)

    def cancel(self, task_id: str, *, subject: str = "alice") -> Answer:
        return self.api.call("POST", f"/tasks/{task_id}/cancel", subject=subject)

    def read(self, task_id: str, *, subject: str = "alice") -> Any:
        answer = self.api.call("GET", f"/tasks/{task_id}", subject=subject)
        assert answer.status == 200, answer
        return answer.json

    def listed(self, **query: str) -> list[Any]:
        """Of this queue, to the end of the list."""
        found: list[Any] = []
        cursor: dict[str, str] = {}
        for _ in range(100):
            answer = self.api.call("GET", "/tasks", query={"queue": self.name, **query, **cursor})
            assert answer.status == 200, answer
            found += answer.json["items"]
            if answer.json["nextCursor"] is None:
                return found
            cursor = {"cursor": answer.json["nextCursor"]}
        raise AssertionError("the list does not end")


def worn_out(queue: Queue, pass_: Callable[[float], None]) -> Any:
    """A task in its last attempt, as whoever holds it was given it."""
    queue.created()
    task = queue.claimed()
    for _ in range(4):
        assert queue.fail(task, retryInSeconds=0).status == 200
        pass_(0)
        task = queue.claimed()
    assert task["attempts"] == 5
    return task
