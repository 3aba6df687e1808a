"""Approvals over the API: requested by one subject, decided by another, once."""

import pytest

from session_store.metric_names import Metric
from session_store.schema import Callers, task_pk
from tests.support.api import InProcessApi
from tests.support.samples import DAY
from tests.support.task_calls import Queue
from tests.support.world import World

DEADLINE = "2027-01-15T09:00:00.500Z"


def approval(queue: Queue, **body: object) -> str:
    return queue.created({"pay": 5}, kind="approval", **body)


def test_an_approval_is_decided_once(queue: Queue, api: InProcessApi, world: World) -> None:
    task_id = approval(queue)
    api.counts()
    first = queue.decide(task_id, comment="fine")
    assert (first.status, first.json["status"], first.json["decidedBy"]) == (200, "approved", "boss")
    assert (first.json["comment"], first.json["retainUntil"]) == ("fine", "2027-04-15T08:00:00.000Z")
    assert api.counts() == {Metric.SERVED: 1, Metric.APPROVALS_DECIDED: 1}
    world.clock.pass_(5)
    for again in (queue.decide(task_id), queue.decide(task_id, comment="fine", subject="chief")):
        assert (again.status, again.json) == (200, first.json)
    assert api.counts() == {Metric.SERVED: 2, Metric.REPLAYS: 2}
    other = queue.decide(task_id, "rejected")
    assert (other.status, other.slug, other.json["taskStatus"]) == (409, "already-decided", "approved")
    (event,) = world.memory.events
    assert (event.pk, event.event_name) == (task_pk(task_id), "ApprovalDecided")
    assert event.facts == {"decision": "approved", "queue": queue.name, "requestedBy": "alice"}
    assert event.author.principal.endswith(" boss")


def test_a_rejection_is_a_decision_too(queue: Queue) -> None:
    task_id = approval(queue)
    assert queue.decide(task_id, "rejected").json["status"] == "rejected"
    assert queue.decide(task_id).slug == "already-decided"


def test_the_requester_does_not_decide(queue: Queue, world: World) -> None:
    task_id = approval(queue)
    for decision in ("approved", "rejected"):
        answer = queue.decide(task_id, decision, subject="alice")
        assert (answer.status, answer.slug) == (403, "forbidden")
    assert world.memory.tasks[task_id].status == "pending"
    assert world.memory.events == []
    queue.decide(task_id)
    assert queue.decide(task_id, subject="alice").status == 403


def test_a_caller_without_a_subject_neither_requests_nor_decides(queue: Queue, api: InProcessApi) -> None:
    task_id = approval(queue)
    body = {"queue": queue.name, "payload": 1, "kind": "approval"}
    for answer in (
        api.call("POST", "/tasks", body, subject=None),
        api.call("POST", f"/tasks/{task_id}/decide", {"decision": "approved"}, subject=None),
    ):
        assert (answer.status, answer.slug) == (403, "forbidden")
    assert queue.read(task_id)["status"] == "pending"


def test_a_caller_without_a_subject_cannot_request_an_approval_as_a_task_ends(
    queue: Queue, api: InProcessApi
) -> None:
    queue.created()
    task = queue.claimed()
    body = {"fence": task["fence"], "result": 1, "next": [{"queue": "q", "payload": 1, "kind": "approval"}]}
    assert api.call("POST", f"/tasks/{task['taskId']}/complete", body, subject=None).status == 403


@pytest.mark.parametrize("step", ["complete", "fail", "heartbeat"])
@pytest.mark.parametrize("decided", [False, True])
def test_an_approval_takes_no_step_of_a_worker(queue: Queue, step: str, *, decided: bool) -> None:
    task_id = approval(queue)
    if decided:
        queue.decide(task_id)
    before = queue.read(task_id)
    answer = getattr(queue, step)({"taskId": task_id, "fence": 0})
    assert (answer.status, answer.slug, answer.json["path"]) == (400, "invalid-request", "taskId")
    assert queue.read(task_id) == before


def test_an_approval_is_not_decided_from_its_deadline_on(queue: Queue, world: World) -> None:
    task_id, late = approval(queue, deadline=DEADLINE), approval(queue, deadline=DEADLINE)
    world.clock.pass_(3599.999)
    assert queue.decide(task_id).status == 200
    world.clock.pass_(0.001)
    answer = queue.decide(late)
    assert (answer.status, answer.slug, answer.json["taskStatus"]) == (409, "already-decided", "expired")
    assert queue.read(late)["status"] == "expired"
    assert queue.decide(task_id).status == 200, "it was decided in time"


def test_an_approval_waits_for_ever_without_a_deadline(queue: Queue, world: World) -> None:
    task_id = approval(queue)
    world.clock.pass_(1000 * DAY)
    assert queue.decide(task_id).json["status"] == "approved"


def test_an_approval_cannot_be_claimed(queue: Queue) -> None:
    approval(queue)
    assert queue.nothing_due()


def test_a_task_is_not_decided(queue: Queue) -> None:
    answer = queue.decide(queue.created())
    assert (answer.status, answer.slug) == (400, "invalid-request")


def test_only_the_requester_cancels_an_approval(queue: Queue) -> None:
    task_id = approval(queue)
    assert queue.cancel(task_id, subject="bob").status == 403
    assert queue.cancel(task_id).json["status"] == "cancelled"
    answer = queue.decide(task_id)
    assert (answer.slug, answer.json["taskStatus"]) == ("already-decided", "cancelled")


def test_a_decided_approval_cannot_be_cancelled(queue: Queue) -> None:
    task_id = approval(queue)
    queue.decide(task_id)
    assert queue.cancel(task_id).slug == "invalid-transition"


def test_open_approvals_are_listed_over_all_queues(queue: Queue, api: InProcessApi) -> None:
    made = [approval(queue), Queue(api).created(kind="approval")]
    queue.created()
    decided = approval(queue)
    queue.decide(decided)
    found = api.call("GET", "/tasks", query={"kind": "approval"}).json["items"]
    assert sorted(task["taskId"] for task in found) == sorted(made)
    assert [task["taskId"] for task in queue.listed(status="approved")] == [decided]


@pytest.mark.parametrize("body", [{"decision": "maybe"}, {}, {"decision": "approved", "comment": "x" * 2001}])
def test_an_invalid_decision_is_refused(queue: Queue, body: dict[str, str]) -> None:
    path = f"/tasks/{approval(queue)}/decide"
    assert queue.api.call("POST", path, body, subject="boss").status == 400


@pytest.mark.parametrize(
    ("step", "body", "needed"),
    [
        ("claim", {"queue": "q", "leaseSeconds": 1}, "worker"),
        ("{task}/heartbeat", {"fence": 1, "leaseSeconds": 1}, "worker"),
        ("{task}/complete", {"fence": 1, "result": 1}, "worker"),
        ("{task}/fail", {"fence": 1, "error": 1}, "worker"),
        ("{approval}/decide", {"decision": "approved"}, "approver"),
    ],
)
def test_a_caller_without_the_permission_is_refused(
    queue: Queue, world: World, step: str, body: dict[str, object], needed: str
) -> None:
    path = "/tasks/" + step.format(task=queue.created(), approval=approval(queue))
    api = InProcessApi(world, callers=Callers.JWT)
    tenant = "111122223333:role/backend"

    def status(*permissions: str) -> int:
        told = {"tenant": tenant, "subject": "boss", "permissions": " ".join(permissions)}
        return api.call("POST", path, body, subject=None, authorizer=told).status

    others = {"ops", "worker", "approver"} - {needed}
    before = dict(world.memory.tasks)
    assert (status(), status(*others)) == (403, 403)
    assert world.memory.tasks == before
    assert status(needed) != 403
