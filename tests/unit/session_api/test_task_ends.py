"""Tasks over the API: completed together with those that follow, or cancelled."""

from session_store.metric_names import Metric
from tests.support.api import InProcessApi
from tests.support.samples import DAY, NOW_SECONDS, SESSION_ID
from tests.support.task_calls import Queue
from tests.support.world import World

NOW = "2027-01-15T08:00:00.500Z"


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


def test_a_completion_creates_no_follower_past_its_deadline_and_is_replayed_after_it(
    queue: Queue, world: World
) -> None:
    queue.created()
    task = queue.claimed()
    late = queue.complete(task, next=[{"queue": queue.name, "payload": 2, "deadline": NOW}])
    assert (late.status, late.json["path"]) == (400, "$.next[0].deadline")
    assert queue.read(task["taskId"])["status"] == "claimed"
    after = [{"queue": queue.name, "payload": 2, "deadline": "2027-01-15T08:00:01Z"}]
    done = queue.complete(task, next=after)
    world.clock.pass_(5)
    assert queue.complete(task, next=after).json == done.json


def test_following_tasks_are_created_with_the_completion(queue: Queue) -> None:
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


def test_a_completed_task_has_no_error(queue: Queue) -> None:
    queue.created()
    queue.fail(queue.claimed(), "once", retryInSeconds=0)
    assert queue.complete(queue.claimed()).json["error"] is None


def test_a_cancelled_task_can_no_longer_be_claimed(queue: Queue, world: World) -> None:
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


def test_the_holder_of_a_cancelled_task_is_fenced(queue: Queue) -> None:
    task_id = queue.created()
    task = queue.claimed()
    queue.cancel(task_id)
    for answer in (queue.heartbeat(task), queue.complete(task), queue.fail(task)):
        assert (answer.status, answer.slug) == (409, "fenced")


def test_a_settled_task_cannot_be_cancelled(queue: Queue) -> None:
    task_id = queue.created()
    queue.complete(queue.claimed())
    answer = queue.cancel(task_id)
    assert (answer.status, answer.slug) == (409, "invalid-transition")
    assert (answer.json["from"], answer.json["to"]) == ("completed", "cancelled")


def test_the_parts_of_one_item_share_300_kb(queue: Queue, world: World) -> None:
    assert queue.create("x" * 307_199).slug == "payload-too-large"
    task_id = queue.created("x" * 200_000)
    task = queue.claimed()
    for answer in (queue.complete(task, "x" * 107_197), queue.fail(task, "x" * 107_197)):
        assert (answer.status, answer.slug) == (413, "payload-too-large")
    assert world.memory.tasks[task_id].status == "claimed"
    assert queue.complete(task, "x" * 107_196).status == 200
