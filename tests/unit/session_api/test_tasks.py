"""Tasks over the API: made, taken, held, done, given back, withdrawn and listed."""

from typing import Any

import pytest

from session_store.domain.claim import SKEW_MARGIN_MS
from session_store.domain.identifiers import mint_task_id
from session_store.domain.task import MAX_ATTEMPTS
from session_store.metric_names import Metric
from session_store.services.payloads import INLINE_LIMIT, OUTCOME_ROOM
from tests.support.api import InProcessApi
from tests.support.samples import DAY, NOW_SECONDS, SESSION_ID
from tests.support.task_calls import Queue, worn_out
from tests.support.world import World

LEASE = 60
OVER = LEASE + SKEW_MARGIN_MS / 1000
NUMBERS = {"q": "x", "n": 0.1, "big": 9007199254740993}
NOW = "2027-01-15T08:00:00.500Z"


@pytest.fixture
def api(world: World) -> InProcessApi:
    return InProcessApi(world)


@pytest.fixture
def queue(api: InProcessApi) -> Queue:
    return Queue(api)


def test_a_new_task_is_answered_whole(queue: Queue) -> None:
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


def test_numbers_come_back_as_they_went_through_payload_result_and_error(queue: Queue) -> None:
    queue.created(NUMBERS)
    task = queue.claimed()
    assert task["payload"] == NUMBERS
    assert queue.fail(task, NUMBERS, retryInSeconds=0).json["error"] == NUMBERS
    done = queue.complete(queue.claimed(), NUMBERS)
    assert '"n":0.1,"big":9007199254740993' in done.text
    assert queue.read(task["taskId"])["result"] == NUMBERS


def test_a_task_without_a_due_time_is_due_at_once_and_one_with_it_then(queue: Queue, world: World) -> None:
    later = queue.created(dueAt="2027-01-15T08:01:00.500+00:00")
    first = queue.created()
    assert queue.claimed()["taskId"] == first
    assert queue.nothing_due()
    world.clock.pass_(59.999)
    assert queue.nothing_due()
    world.clock.pass_(0.001)
    assert queue.claimed()["taskId"] == later


def test_a_task_is_had_by_one_worker_until_its_lease_is_over_by_every_clock(
    queue: Queue, world: World
) -> None:
    queue.created()
    task = queue.claimed()
    assert (task["status"], task["owner"], task["attempts"]) == ("claimed", "worker-1", 1)
    assert task["nextAt"] == "2027-01-15T08:01:00.500Z"
    world.clock.pass_(OVER - 0.001)
    assert queue.nothing_due()
    world.clock.pass_(0.001)
    again = queue.claimed(subject="worker-2")
    assert (again["taskId"], again["owner"], again["attempts"]) == (task["taskId"], "worker-2", 2)
    assert again["fence"] > task["fence"]


def test_several_are_taken_at_once_and_no_more_than_there_are(queue: Queue) -> None:
    made = {queue.created(number) for number in range(7)}
    first = queue.claim(most=5).json["items"]
    rest = queue.claim(most=5).json["items"]
    assert (len(first), len(rest)) == (5, 2)
    assert {task["taskId"] for task in (*first, *rest)} == made


def test_no_more_is_taken_than_an_answer_holds(queue: Queue) -> None:
    for _ in range(7):
        queue.created("x" * 290_000)
    sizes = [len(queue.claim(most=7).json["items"]) for _ in range(2)]
    assert sizes == [5, 2]


def test_a_zombie_is_fenced(queue: Queue, world: World) -> None:
    queue.created()
    task = queue.claimed()
    world.clock.pass_(OVER)
    successor = queue.claimed(subject="worker-2")
    for answer in (queue.complete(task), queue.fail(task), queue.heartbeat(task)):
        assert (answer.status, answer.slug) == (409, "fenced")
    assert queue.read(task["taskId"]) == successor
    assert queue.complete(successor, "newer").status == 200
    assert queue.complete(task, "older").slug == "fenced"
    assert queue.read(task["taskId"])["result"] == "newer"


def test_who_holds_the_fence_may_finish_late_as_long_as_nobody_took_over(queue: Queue, world: World) -> None:
    queue.created()
    task = queue.claimed()
    world.clock.pass_(OVER + 1000)
    assert queue.complete(task).json["status"] == "completed"


def test_a_heartbeat_keeps_a_task_and_a_late_one_shortens_nothing(queue: Queue, world: World) -> None:
    queue.created()
    task = queue.claimed()
    world.clock.pass_(30)
    longer = queue.heartbeat(task, 120).json
    assert longer["nextAt"] == "2027-01-15T08:02:30.500Z"
    assert queue.heartbeat(task, 1).json == longer
    world.clock.pass_(OVER)
    assert queue.nothing_due()


def test_a_completed_task_stays_until_its_retention_is_over(
    queue: Queue, world: World, api: InProcessApi
) -> None:
    task_id = queue.created(retainDays=2)
    done = queue.complete(queue.claimed(), {"ok": True}).json
    assert (done["status"], done["result"], done["owner"]) == ("completed", {"ok": True}, "worker-1")
    assert (done["endedAt"], done["nextAt"], done["next"]) == (NOW, None, [])
    assert done["retainUntil"] == "2027-01-17T08:00:00.000Z"
    assert world.memory.tasks[task_id].ttl == NOW_SECONDS + 2 * DAY
    world.clock.pass_(2 * DAY - 0.501)
    assert queue.read(task_id)["status"] == "completed"
    world.clock.pass_(0.001)
    assert api.call("GET", f"/tasks/{task_id}").slug == "not-found"
    assert queue.listed(status="completed") == []


def test_a_task_that_is_open_has_no_end(queue: Queue, world: World) -> None:
    task_id = queue.created(retainDays=1)
    assert world.memory.tasks[task_id].ttl is None
    world.clock.pass_(400 * DAY)
    assert queue.claimed()["taskId"] == task_id
    assert world.memory.tasks[task_id].ttl is None


def test_the_same_completion_again_is_a_success_and_another_a_mismatch(
    queue: Queue, api: InProcessApi
) -> None:
    queue.created()
    task = queue.claimed()
    api.counts()
    first = queue.complete(task, 1, next=[{"queue": queue.name, "payload": 2}])
    assert api.counts() == {Metric.SERVED: 1, Metric.TASKS_COMPLETED: 1}
    again = queue.complete(task, 1, next=[{"queue": queue.name, "payload": 2}])
    assert (again.status, again.json) == (200, first.json)
    assert api.counts() == {Metric.SERVED: 1, Metric.REPLAYS: 1}
    for other in (
        queue.complete(task, 2, next=[{"queue": queue.name, "payload": 2}]),
        queue.complete(task, 1),
        queue.complete(task, 1, next=[{"queue": queue.name, "payload": 3}]),
        queue.fail(task),
    ):
        assert (other.status, other.slug) == (422, "idempotency-mismatch")
    assert queue.heartbeat(task).slug == "fenced"


def test_the_next_tasks_are_there_with_the_completion(queue: Queue) -> None:
    queue.created()
    after = [
        {"queue": queue.name, "payload": {"step": 2}},
        {"queue": queue.name, "payload": "may I?", "kind": "approval", "deadline": "2027-02-01T00:00:00Z"},
    ]
    done = queue.complete(queue.claimed(), 1, next=after).json
    made = [queue.read(task_id) for task_id in done["next"]]
    assert [task["payload"] for task in made] == [{"step": 2}, "may I?"]
    assert {task["createdBy"] for task in made} == {"worker-1"}
    assert [task["taskId"] for task in queue.listed()] == done["next"]
    assert queue.claimed()["taskId"] == done["next"][0]


def test_a_next_task_is_in_the_session_of_the_one_before(queue: Queue, api: InProcessApi) -> None:
    session_id = api.open()
    queue.created(sessionId=session_id)
    task = queue.claimed()
    own = api.call("POST", "/sessions", {}, subject="worker-1").json["sessionId"]
    follow = {"queue": queue.name, "payload": 1}
    for other in (api.open(), SESSION_ID):
        answer = queue.complete(task, 1, next=[{**follow, "sessionId": other}])
        assert (answer.status, answer.slug) == (404, "session-not-found")
    nexts = [follow, {**follow, "sessionId": session_id}, {**follow, "sessionId": own}]
    done = queue.complete(task, 1, next=nexts).json
    assert [queue.read(each)["sessionId"] for each in done["next"]] == [session_id, session_id, own]


def test_a_failed_attempt_is_followed_by_another_after_a_growing_pause(queue: Queue, world: World) -> None:
    queue.created()
    for attempt, pause in enumerate((10, 20, 40, 80), start=1):
        task = queue.claimed()
        given_back = queue.fail(task, {"n": attempt}).json
        assert (given_back["status"], given_back["error"]) == ("pending", {"n": attempt})
        assert (given_back["owner"], given_back["attempts"]) == ("worker-1", attempt)
        world.clock.pass_(pause - 0.001)
        assert queue.nothing_due()
        world.clock.pass_(0.001)
    last = queue.fail(queue.claimed(), "for good", retryInSeconds=1).json
    assert (last["status"], last["error"], last["attempts"]) == ("failed", "for good", MAX_ATTEMPTS)
    assert last["retainUntil"] is not None
    world.clock.pass_(1000)
    assert queue.nothing_due()


def test_who_fails_a_task_may_say_when_it_is_due_again(queue: Queue, world: World) -> None:
    queue.created()
    queue.fail(queue.claimed(), retryInSeconds=3)
    world.clock.pass_(2.999)
    assert queue.nothing_due()
    world.clock.pass_(0.001)
    assert queue.claimed()["attempts"] == 2


def test_the_same_failure_again_is_a_success_until_somebody_has_the_task(queue: Queue, world: World) -> None:
    queue.created()
    task = queue.claimed()
    first = queue.fail(task)
    world.clock.pass_(5)
    assert queue.fail(task) == first
    assert queue.fail(task, "another").slug == "fenced"
    assert queue.complete(task).slug == "fenced"
    world.clock.pass_(5)
    successor = queue.claimed()
    assert queue.fail(task).slug == "fenced"
    assert queue.read(task["taskId"]) == successor


def test_a_failure_of_the_last_attempt_again_is_a_success(queue: Queue, world: World) -> None:
    task = worn_out(queue, world.clock.pass_)
    first = queue.fail(task)
    assert first.json["status"] == "failed"
    assert queue.fail(task) == first
    assert queue.complete(task).slug == "idempotency-mismatch"


def test_a_completed_task_has_no_error(queue: Queue) -> None:
    queue.created()
    queue.fail(queue.claimed(), "once", retryInSeconds=0)
    assert queue.complete(queue.claimed()).json["error"] is None


def test_a_last_attempt_that_dies_is_failed_by_whoever_meets_it(queue: Queue, world: World) -> None:
    task = worn_out(queue, world.clock.pass_)
    world.clock.pass_(OVER - 0.001)
    assert queue.read(task["taskId"])["status"] == "claimed"
    world.clock.pass_(0.001)
    assert queue.nothing_due()
    failed = world.memory.tasks[task["taskId"]]
    assert (failed.status, failed.error) == ("failed", {"reason": "last-lease-over"})
    for late in (queue.complete(task), queue.fail(task), queue.heartbeat(task)):
        assert late.slug == "fenced"


def test_a_last_attempt_that_dies_is_failed_to_who_reads_it(queue: Queue, world: World) -> None:
    task = worn_out(queue, world.clock.pass_)
    world.clock.pass_(OVER)
    shown = queue.read(task["taskId"])
    assert (shown["status"], shown["error"]) == ("failed", {"reason": "last-lease-over"})
    assert queue.read(task["taskId"]) == shown
    assert queue.listed() == []
    assert queue.complete(task).slug == "fenced"


def test_a_task_fails_at_its_deadline_unless_somebody_is_at_it(queue: Queue, world: World) -> None:
    deadline = "2027-01-15T08:00:30.500Z"
    waiting = queue.created("waiting", deadline=deadline, dueAt=deadline)
    queue.created("held", deadline=deadline)
    held = queue.claimed()
    world.clock.pass_(30)
    assert queue.nothing_due()
    assert queue.read(waiting)["error"] == {"reason": "deadline-passed"}
    assert queue.complete(held).status == 200


def test_a_task_whose_worker_died_past_its_deadline_is_not_begun_again(queue: Queue, world: World) -> None:
    task_id = queue.created(deadline="2027-01-15T08:00:30.500Z")
    queue.claimed()
    world.clock.pass_(OVER)
    assert queue.nothing_due()
    assert queue.read(task_id)["status"] == "failed"


def test_a_cancelled_task_is_nobodys(queue: Queue, world: World) -> None:
    waiting, held = queue.created(dueAt="2028-01-01T00:00:00Z"), queue.created()
    task = queue.claimed()
    assert task["taskId"] == held
    for task_id in (waiting, held):
        first = queue.cancel(task_id, subject="bob")
        assert (first.status, first.json["status"]) == (200, "cancelled")
        assert queue.cancel(task_id) == first
        assert first.json["retainUntil"] is not None
    world.clock.pass_(400 * DAY)
    assert queue.claim().json["items"] == []


def test_who_holds_a_cancelled_task_learns_it(queue: Queue) -> None:
    task_id = queue.created()
    task = queue.claimed()
    queue.cancel(task_id)
    for answer in (queue.heartbeat(task), queue.complete(task), queue.fail(task)):
        assert (answer.status, answer.slug) == (409, "fenced")


def test_what_is_over_is_not_cancelled(queue: Queue) -> None:
    task_id = queue.created()
    queue.complete(queue.claimed())
    answer = queue.cancel(task_id)
    assert (answer.status, answer.slug) == (409, "invalid-transition")
    assert (answer.json["from"], answer.json["to"]) == ("completed", "cancelled")


def test_a_key_makes_a_task_once(queue: Queue, api: InProcessApi, world: World) -> None:
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


def test_a_key_is_known_also_when_the_session_of_its_task_has_ended(queue: Queue, api: InProcessApi) -> None:
    key = {"Idempotency-Key": "k"}
    session_id = api.open()
    first = queue.create(headers=key, sessionId=session_id)
    assert api.call("DELETE", f"/sessions/{session_id}").status == 204
    again = queue.create(headers=key, sessionId=session_id)
    assert (again.status, again.json, again.headers["Idempotent-Replayed"]) == (201, first.json, "true")
    assert queue.create(2, headers=key, sessionId=session_id).slug == "idempotency-mismatch"
    unknown = queue.create(headers={"Idempotency-Key": "new"}, sessionId=session_id)
    assert unknown.slug == "session-not-found"


def test_a_task_of_a_session_is_of_the_callers_own_living_one(
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
def test_a_task_that_is_none_is_refused(queue: Queue, world: World, body: dict[str, Any]) -> None:
    answer = queue.create(**body)
    assert (answer.status, answer.slug) == (400, "invalid-request")
    assert world.memory.tasks == {}


@pytest.mark.parametrize("missing", ["queue", "payload"])
def test_a_task_without_its_parts_is_refused(api: InProcessApi, missing: str) -> None:
    body = {"queue": "q", "payload": 1}
    del body[missing]
    assert api.call("POST", "/tasks", body).status == 400


@pytest.mark.parametrize(
    "body",
    [
        {"leaseSeconds": 0},
        {"leaseSeconds": 3601},
        {"leaseSeconds": True},
        {"leaseSeconds": "60"},
        {"leaseSeconds": 60_000},
        {"max": 0},
        {"max": 11},
        {"queue": "a b"},
    ],
)
def test_a_claim_out_of_range_is_refused(api: InProcessApi, body: dict[str, Any]) -> None:
    whole = {"queue": "q", "leaseSeconds": 60, **body}
    assert api.call("POST", "/tasks/claim", whole).slug == "invalid-request"


def test_what_stands_in_one_item_has_300_kb_together(queue: Queue, world: World) -> None:
    assert queue.create("x" * 307_199).slug == "payload-too-large"
    task_id = queue.created("x" * 200_000)
    task = queue.claimed()
    for answer in (queue.complete(task, "x" * 107_197), queue.fail(task, "x" * 107_197)):
        assert (answer.status, answer.slug) == (413, "payload-too-large")
    assert world.memory.tasks[task_id].status == "claimed"
    assert queue.complete(task, "x" * 107_196).status == 200


@pytest.mark.parametrize("step", ["", "/heartbeat", "/complete", "/fail", "/cancel", "/decide"])
def test_another_tenants_task_is_as_one_that_never_was(queue: Queue, step: str) -> None:
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


def test_a_list_is_of_one_tenant(queue: Queue) -> None:
    queue.created()
    stranger = "arn:aws:sts::444455556666:assumed-role/other/x"
    assert queue.api.call("GET", "/tasks", principal=stranger).json["items"] == []
    body = {"queue": queue.name, "leaseSeconds": 1}
    assert queue.api.call("POST", "/tasks/claim", body, principal=stranger).json["items"] == []


@pytest.mark.parametrize(
    "query",
    [
        {"status": "open"},
        {"kind": "tasks"},
        {"queue": "a b"},
        {"sessionId": "x"},
        {"kind": "approval", "status": "completed"},
        {"kind": "task", "status": "approved"},
        {"cursor": "x"},
        {"limit": "101"},
        {"owner": "me"},
    ],
)
def test_a_list_of_nothing_that_can_be_is_refused(api: InProcessApi, query: dict[str, str]) -> None:
    assert api.call("GET", "/tasks", query=query).slug == "invalid-request"


def test_a_list_goes_on_where_a_page_ended(queue: Queue) -> None:
    made = [queue.created(number) for number in range(5)]
    first = queue.api.call("GET", "/tasks", query={"limit": "2", "queue": queue.name}).json
    assert len(first["items"]) == 2
    assert sorted(task["taskId"] for task in queue.listed(limit="2")) == sorted(made)
    other = {"queue": queue.name, "status": "claimed", "cursor": first["nextCursor"]}
    assert queue.api.call("GET", "/tasks", query=other).slug == "invalid-request"


def test_a_payload_leaves_room_for_what_comes_of_it(queue: Queue) -> None:
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
def test_times_and_sessions_that_cannot_be_are_refused_where_they_stand(
    queue: Queue, body: dict[str, Any], path: str
) -> None:
    refused = queue.create(1, **body)
    assert (refused.status, refused.json["path"]) == (400, path)
    queue.created()
    after = queue.complete(queue.claimed(), result=1, next=[{"queue": "q", "payload": 1, **body}])
    assert (after.status, after.json["path"]) == (400, path.replace("$", "$.next[0]"))


def test_what_is_over_by_itself_is_in_no_list_of_open_ones(queue: Queue, world: World) -> None:
    queue.created(deadline="2027-01-15T08:00:30Z")
    assert len(queue.listed()) == 1
    world.clock.pass_(30)
    assert queue.listed() == []
    assert queue.listed(status="pending") == []
