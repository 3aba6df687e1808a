"""Tasks created over the API: with and without a key, with and without a session."""

from typing import Any, Final

import pytest

from session_store.domain.identifiers import mint_task_id
from session_store.metric_names import Metric
from session_store.services.payloads import INLINE_LIMIT, OUTCOME_ROOM
from tests.support.api import InProcessApi
from tests.support.samples import NOW_SECONDS, SESSION_ID
from tests.support.task_calls import NUMBERS, Queue
from tests.support.world import World

NOW = "2027-01-15T08:00:00.500Z"


def test_a_new_task_is_returned_in_full(queue: Queue) -> None:
    answer = queue.create(NUMBERS)
    assert answer.status == 201
    assert answer.json == {
        "taskId": answer.json["taskId"],
        "kind": "task",
        "queue": queue.name,
        "status": "pending",
        "payload": NUMBERS,
        "result": None,
        "error": None,
        "owner": None,
        "fence": 0,
        "attempts": 0,
        "sessionId": None,
        "dueAt": NOW,
        "nextAt": NOW,
        "deadline": None,
        "createdAt": NOW,
        "createdBy": "alice",
        "decidedBy": None,
        "comment": None,
        "endedAt": None,
        "retainUntil": None,
    }
    assert answer.json["taskId"].startswith("use1-")
    assert queue.read(answer.json["taskId"], subject="bob") == answer.json


def test_a_task_under_a_key_is_created_once(queue: Queue, api: InProcessApi, world: World) -> None:
    key = {"Idempotency-Key": "k"}
    first = queue.create(NUMBERS, headers=key)
    assert api.counts() == {Metric.SERVED: 1, Metric.TASKS_CREATED: 1}
    queue.complete(queue.claimed())
    world.clock.pass_(3600)
    again = queue.create(NUMBERS, headers=key, kind="task", retainDays=90)
    assert (again.status, again.text) == (201, first.text)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert api.counted(Metric.REPLAYS) == 1
    assert queue.nothing_due()
    other = queue.create(2, headers=key)
    assert (other.status, other.slug) == (422, "idempotency-mismatch")
    assert queue.create(NUMBERS, headers=key, subject="bob").json["taskId"] != first.json["taskId"]


def test_a_create_under_a_key_is_replayed_after_the_session_has_ended(
    queue: Queue, api: InProcessApi
) -> None:
    key = {"Idempotency-Key": "k"}
    session_id = api.open()
    first = queue.create(headers=key, sessionId=session_id)
    assert api.call("DELETE", f"/sessions/{session_id}").status == 204
    again = queue.create(headers=key, sessionId=session_id)
    assert (again.status, again.json, again.headers["Idempotent-Replayed"]) == (201, first.json, "true")
    assert queue.create(2, headers=key, sessionId=session_id).slug == "idempotency-mismatch"
    unknown = queue.create(headers={"Idempotency-Key": "new"}, sessionId=session_id)
    assert unknown.slug == "session-not-found"


PAST: Final = ("2020-01-01T00:00:00Z", "2027-01-15T08:00:00.500Z")


@pytest.mark.parametrize("kind", ["task", "approval"])
@pytest.mark.parametrize("headers", [None, {"Idempotency-Key": "k"}])
@pytest.mark.parametrize("deadline", PAST)
def test_a_task_is_not_created_past_its_deadline(
    queue: Queue, world: World, deadline: str, headers: Any, kind: str
) -> None:
    answer = queue.create(headers=headers, kind=kind, deadline=deadline)
    assert (answer.status, answer.json["path"]) == (400, "$.deadline")
    assert world.memory.tasks == {}
    assert queue.create(headers=headers, kind=kind, deadline="2027-01-15T08:00:00.501Z").status == 201


def test_a_create_under_a_key_is_replayed_after_the_deadline_too(queue: Queue, world: World) -> None:
    key = {"Idempotency-Key": "k"}
    first = queue.create(headers=key, deadline="2027-01-15T08:00:30Z")
    world.clock.pass_(60)
    again = queue.create(headers=key, deadline="2027-01-15T08:00:30Z")
    assert (again.status, again.json, again.headers["Idempotent-Replayed"]) == (201, first.json, "true")
    other = queue.create(2, headers=key, deadline="2027-01-15T08:00:30Z")
    assert other.slug == "idempotency-mismatch"


def test_a_task_may_name_only_a_living_session_of_the_callers(
    queue: Queue, api: InProcessApi, world: World
) -> None:
    session_id = api.open(idleTimeout=100)
    world.clock.pass_(50)
    task_id = queue.created(sessionId=session_id)
    assert queue.read(task_id, subject="bob")["sessionId"] == session_id
    assert world.stored(session_id).ttl == NOW_SECONDS + 150, "it was used"
    for answer in (
        queue.create(sessionId=session_id, subject="bob"),
        queue.create(sessionId=SESSION_ID),
    ):
        assert (answer.status, answer.slug) == (404, "session-not-found")
    assert [task["taskId"] for task in queue.listed(sessionId=session_id)] == [task_id]
    world.clock.pass_(100)
    assert queue.create(sessionId=session_id).slug == "session-not-found"
    assert queue.claimed()["taskId"] == task_id, "work that is owed outlives the session"


@pytest.mark.parametrize(
    "body",
    [
        {"queue": ""},
        {"queue": "a b"},
        {"queue": "é"},
        {"queue": "q" * 129},
        {"queue": ".."},
        {"queue": None},
        {"kind": "question"},
        {"dueAt": "soon"},
        {"dueAt": "2027-01-15T08:00:00"},
        {"dueAt": 1_800_000_000},
        {"deadline": "2027-02-30T00:00:00Z"},
        {"retainDays": 0},
        {"retainDays": 3651},
        {"retainDays": True},
        {"retainDays": "90"},
        {"sessionId": "x"},
        {"surprise": 1},
    ],
)
def test_an_invalid_task_is_refused(queue: Queue, world: World, body: dict[str, Any]) -> None:
    answer = queue.create(**body)
    assert (answer.status, answer.slug) == (400, "invalid-request")
    assert world.memory.tasks == {}


@pytest.mark.parametrize("missing", ["queue", "payload"])
def test_a_task_without_its_parts_is_refused(api: InProcessApi, missing: str) -> None:
    body = {"queue": "q", "payload": 1}
    del body[missing]
    assert api.call("POST", "/tasks", body).status == 400


@pytest.mark.parametrize("step", ["", "/heartbeat", "/complete", "/fail", "/cancel", "/decide"])
def test_another_tenants_task_is_not_found(queue: Queue, step: str) -> None:
    bodies: dict[str, Any] = {
        "/heartbeat": {"fence": 1, "leaseSeconds": 1},
        "/complete": {"fence": 1, "result": 1},
        "/fail": {"fence": 1, "error": 1},
        "/decide": {"decision": "approved"},
    }
    stranger = "arn:aws:sts::444455556666:assumed-role/other/x"
    never = mint_task_id(region="us-east-1", random_bytes=lambda n: b"\7" * n)
    method = "POST" if step else "GET"
    answers = [
        queue.api.call(method, f"/tasks/{task_id}{step}", bodies.get(step), principal=stranger)
        for task_id in (queue.created(kind="approval"), never)
    ]
    assert answers[0] == answers[1]
    assert (answers[0].status, answers[0].slug) == (404, "not-found")
    assert queue.api.call(method, f"/tasks/mine{step}", bodies.get(step)).status == 400


def test_a_payload_leaves_room_for_the_outcome(queue: Queue) -> None:
    most = "x" * (INLINE_LIMIT - OUTCOME_ROOM - 2)
    assert queue.create(most + "x").status == 413
    task_id = queue.created(most)
    assert queue.complete(queue.claimed(), result="r" * 1000).status == 200
    assert queue.read(task_id)["status"] == "completed"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"dueAt": "1969-12-31T23:59:59Z"}, "$.dueAt"),
        ({"dueAt": "9999-12-31T23:59:59-12:00"}, "$.dueAt"),
        ({"deadline": "0001-01-01T00:00:00+01:00"}, "$.deadline"),
        ({"dueAt": "2027-01-16T00:00:00Z", "deadline": "2027-01-15T23:59:59Z"}, "$.deadline"),
        ({"sessionId": "nope"}, "$.sessionId"),
    ],
)
def test_invalid_times_and_sessions_are_refused_with_their_paths(
    queue: Queue, body: dict[str, Any], path: str
) -> None:
    refused = queue.create(1, **body)
    assert (refused.status, refused.json["path"]) == (400, path)
    queue.created()
    after = queue.complete(queue.claimed(), result=1, next=[{"queue": "q", "payload": 1, **body}])
    assert (after.status, after.json["path"]) == (400, path.replace("$", "$.next[0]"))
