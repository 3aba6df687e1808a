"""Tasks created with the completion of a tool call."""

from typing import Any

import pytest

from tests.support.samples import SESSION_ID
from tests.support.session_calls import INPUT, Session


def test_tasks_are_created_with_the_completion_that_names_them_and_once(session: Session) -> None:
    fence = session.fence()
    tasks = [{"queue": "mail", "payload": INPUT}, {"queue": "boss", "payload": 1, "kind": "approval"}]
    done = session.complete(fence, tasks=tasks)
    assert done.status == 200, done
    made = [session.api.call("GET", f"/tasks/{each}").json for each in done.json["tasks"]]
    assert [(task["queue"], task["kind"]) for task in made] == [("mail", "task"), ("boss", "approval")]
    assert {task["sessionId"] for task in made} == {session.id}
    session.clock.pass_(5)
    again = session.complete(fence, tasks=tasks)
    assert (again.status, again.json["tasks"]) == (200, done.json["tasks"])
    assert len(session.api.world.memory.tasks) == 2
    assert session.complete(fence).slug == "idempotency-mismatch"
    session.call("DELETE", "")
    assert session.complete(fence, tasks=tasks).json["tasks"] == done.json["tasks"]


def test_a_completion_that_is_refused_creates_no_task(session: Session) -> None:
    fence = session.fence()
    tasks = [{"queue": "mail", "payload": 1}]
    assert session.complete(fence - 1, tasks=tasks).slug == "fenced"
    assert session.complete(fence, tasks=tasks, expectedVersion=99).slug == "version-conflict"
    assert session.api.world.memory.tasks == {}


@pytest.mark.parametrize(
    ("task", "path"),
    [
        ({"queue": "a b", "payload": 1}, "$.tasks[1].queue"),
        ({"queue": "q"}, "$.tasks[1]"),
        ({"queue": "q", "payload": 1, "dueAt": "x"}, "$.tasks[1].dueAt"),
        ({"queue": "q", "payload": 1, "sessionId": SESSION_ID}, "$.tasks[1].sessionId"),
    ],
)
def test_a_task_that_cannot_be_created_with_a_call_is_refused_with_its_path(
    session: Session, task: dict[str, Any], path: str
) -> None:
    fence = session.fence()
    answer = session.complete(fence, tasks=[{"queue": "q", "payload": 1}, task])
    assert (answer.status, answer.json["path"]) == (400, path)
    assert session.api.world.memory.tasks == {}


def test_a_completion_creates_no_task_past_its_deadline_and_is_replayed_after_it(session: Session) -> None:
    fence = session.fence()
    soon = [{"queue": "q", "payload": 1, "deadline": "2027-01-15T08:00:30Z"}]
    session.clock.pass_(30)
    late = session.complete(fence, tasks=soon)
    assert (late.status, late.json["path"]) == (400, "$.tasks[0].deadline")
    assert session.api.world.memory.tasks == {}
    later = [{"queue": "q", "payload": 1, "deadline": "2027-01-15T08:01:00Z"}]
    done = session.complete(fence, tasks=later)
    session.clock.pass_(60)
    again = session.complete(fence, tasks=later)
    assert (again.status, again.json["tasks"]) == (200, done.json["tasks"])


def test_a_call_creates_no_more_tasks_than_fit_in_one_transaction(session: Session) -> None:
    fence = session.fence()
    tasks = [{"queue": "q", "payload": number} for number in range(26)]
    assert session.complete(fence, tasks=tasks).status == 400
    assert session.complete(fence, tasks=tasks[:25]).status == 200
    assert len(session.api.world.memory.tasks) == 25
