"""Tasks and approvals over the gateway: a whole walk, who may do what, and what a stranger sees."""

import json
import secrets
import time
from typing import Any

import pytest

from local.credentials import REGION
from local.emulator import ACCOUNT
from local.principals import provision_user, tenant_policy
from local.signed_http import Answer, Api
from session_store.domain.times import iso
from session_store.schema import TASK_SK, task_pk
from tests.support.calls import Acting, Calls, assert_problem, create, exact, items, new_subject
from tests.support.crowd import at_once
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable

NUMBERS = '{"queue":"@","payload":{"n":0.1,"big":9007199254740993}}'
STEPS = {
    "": None,
    "/heartbeat": {"fence": 1, "leaseSeconds": 9},
    "/complete": {"fence": 1, "result": 1},
    "/fail": {"fence": 1, "error": 1},
    "/cancel": None,
    "/decide": {"decision": "approved"},
}


@pytest.fixture
def queue() -> str:
    return f"q-{secrets.token_hex(8)}"


@pytest.fixture
def worker(deployed: LiveStack) -> Acting:
    """Of the same tenant as ``api``."""
    return Acting(deployed.api("tenant-a"), new_subject())


def new(api: Calls, queue: str, **body: Any) -> dict[str, Any]:
    answer = api.call("POST", "/tasks", {"queue": queue, "payload": {"n": 1}, **body})
    assert answer.status == 201, answer
    task: dict[str, Any] = answer.json
    return task


def claim(worker: Calls, queue: str, most: int = 1) -> list[dict[str, Any]]:
    answer = worker.call("POST", "/tasks/claim", {"queue": queue, "leaseSeconds": 600, "max": most})
    assert answer.status == 200, answer
    found: list[dict[str, Any]] = answer.json["items"]
    return found


def step(worker: Calls, task: dict[str, Any], name: str, **body: Any) -> Answer:
    return worker.call("POST", f"/tasks/{task['taskId']}/{name}", {"fence": task["fence"], **body})


def test_a_task_goes_from_hand_to_hand(api: Acting, worker: Acting, queue: str, raw: RawTable) -> None:
    session_id = create(api)["sessionId"]
    made = new(api, queue, sessionId=session_id)
    path = f"/tasks/{made['taskId']}"
    (held,) = claim(worker, queue)
    assert (held["taskId"], held["owner"], held["attempts"]) == (made["taskId"], worker.subject, 1)
    assert claim(worker, queue) == []
    back = step(worker, held, "fail", error={"why": "busy"}, retryInSeconds=0)
    assert (back.status, back.json["status"], back.json["error"]) == (200, "pending", {"why": "busy"})
    (again,) = claim(worker, queue)
    assert again["fence"] > held["fence"]
    assert_problem(step(worker, held, "complete", result=1), 409, "fenced")
    assert step(worker, again, "heartbeat", leaseSeconds=120).status == 200
    follow = [{"queue": queue, "payload": "more"}]
    done = step(worker, again, "complete", result={"ok": True}, next=follow)
    assert (done.status, done.json["status"]) == (200, "completed")
    assert step(worker, again, "complete", result={"ok": True}, next=follow).json == done.json
    assert_problem(step(worker, again, "complete", result=2), 422, "idempotency-mismatch")
    assert api.call("GET", path).json["result"] == {"ok": True}
    assert [task["taskId"] for task in items(api, f"/tasks?queue={queue}")] == done.json["next"]
    assert [task["taskId"] for task in items(api, f"/tasks?sessionId={session_id}")] == done.json["next"]
    assert items(api, f"/tasks?queue={queue}&status=completed") == [api.call("GET", path).json]
    item = raw.item(task_pk(made["taskId"]), TASK_SK)
    assert item is not None
    assert len(item["ttl"]["N"]) == 10
    after = raw.item(task_pk(done.json["next"][0]), TASK_SK)
    assert after is not None
    assert "ttl" not in after


def test_a_key_makes_a_task_once(api: Acting, queue: str) -> None:
    key = {"Idempotency-Key": secrets.token_hex(8)}
    body = {"queue": queue, "payload": 1}
    first, again = (api.call("POST", "/tasks", body, key) for _ in range(2))
    assert (again.status, again.json) == (201, first.json)
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert_problem(api.call("POST", "/tasks", {**body, "payload": 2}, key), 422, "idempotency-mismatch")


def test_an_approval_is_decided_by_another_and_once(
    api: Acting, worker: Acting, queue: str, raw_audit: RawTable
) -> None:
    wanted = new(api, queue, kind="approval")
    path = f"/tasks/{wanted['taskId']}/decide"
    assert_problem(api.call("POST", path, {"decision": "approved"}), 403, "forbidden")
    for _ in range(2):
        decided = worker.call("POST", path, {"decision": "approved", "comment": "fine"})
        assert (decided.status, decided.json["decidedBy"]) == (200, worker.subject)
    assert_problem(worker.call("POST", path, {"decision": "rejected"}), 409, "already-decided")
    assert items(api, f"/tasks?queue={queue}&status=approved") == [decided.json]
    events = [
        item
        for item in raw_audit.partition_of(task_pk(wanted["taskId"]))
        if item["eventName"]["S"] == "ApprovalDecided"
    ]
    assert len(events) == 1
    assert json.loads(events[0]["facts"]["S"])["decision"] == "approved"


def test_nobody_in_particular_asks_for_no_approval(deployed: LiveStack, queue: str) -> None:
    body = {"queue": queue, "payload": 1, "kind": "approval"}
    assert_problem(deployed.api("tenant-a").call("POST", "/tasks", body), 403, "forbidden")


def test_the_watch_ends_what_nobody_came_for(deployed: LiveStack, api: Acting, queue: str) -> None:
    now = iso(time.time_ns() // 1_000_000)
    late = new(api, queue, kind="approval", dueAt=now, deadline=now)
    ran = deployed.emulator.client("lambda").invoke(FunctionName=deployed.function("expiry_watch"))
    assert "FunctionError" not in ran
    (found,) = items(api, f"/tasks?queue={queue}&status=expired")
    assert found["taskId"] == late["taskId"]


def test_numbers_come_back_as_they_went(api: Acting, worker: Acting, queue: str) -> None:
    made = api.call("POST", "/tasks", NUMBERS.replace("@", queue).encode())
    assert b'"n":0.1,"big":9007199254740993' in made.body
    body = {"queue": queue, "leaseSeconds": 60}
    taken = worker.call("POST", "/tasks/claim", body)
    assert exact(taken.body)["items"][0]["payload"] == exact(made.body)["payload"]


def test_queues_with_signs_of_keys_are_kept_apart(api: Acting, worker: Acting, queue: str) -> None:
    names = (queue, f"{queue}#b", f"{queue}%23b")
    made = {name: new(api, name)["taskId"] for name in names}
    for name in names:
        (task,) = claim(worker, name, most=9)
        assert task["taskId"] == made[name]


def test_many_workers_over_the_gateway_have_each_task_once(api: Acting, worker: Acting, queue: str) -> None:
    made = {new(api, queue)["taskId"] for _ in range(24)}
    taken: list[str] = []

    def work(_: int) -> None:
        for _round in range(24):
            taken.extend(task["taskId"] for task in claim(worker, queue))
            if len(taken) >= len(made):
                return

    at_once(8, work)
    assert sorted(taken) == sorted(made)


@pytest.fixture(scope="module")
def bystander(deployed: LiveStack) -> Api:
    """Of the account; neither works nor decides: its policy names the paths of those who do."""
    policy = dict(tenant_policy(deployed.deployed))
    stage = f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{deployed.deployed.api_id}/*"
    paths = ("claim", "*/heartbeat", "*/complete", "*/fail", "*/decide")
    denial = {
        "Effect": "Deny",
        "Action": "execute-api:Invoke",
        "Resource": [f"{stage}/POST/tasks/{path}" for path in paths],
    }
    statements: Any = policy["Statement"]
    policy["Statement"] = [*statements, denial]
    return deployed.api().as_(provision_user(deployed.emulator, name="bystander", policy=policy))


def test_who_is_neither_worker_nor_approver_asks_and_reads_and_no_more(bystander: Api, queue: str) -> None:
    made = new(bystander, queue)
    path = f"/tasks/{made['taskId']}"
    assert bystander.call("POST", "/tasks/claim", {"queue": queue, "leaseSeconds": 9}).status == 403
    for name in ("heartbeat", "complete", "fail", "decide"):
        assert bystander.call("POST", f"{path}/{name}", STEPS[f"/{name}"]).status == 403
    assert bystander.call("GET", path).json == made
    assert bystander.call("POST", f"{path}/cancel").status == 200


@pytest.mark.parametrize("part", STEPS)
def test_a_stranger_learns_nothing_of_a_task_and_changes_nothing(
    deployed: LiveStack, api: Acting, queue: str, raw: RawTable, part: str
) -> None:
    method = "POST" if part else "GET"
    task_id = new(api, queue)["taskId"]
    never = "use1-" + "a" * 32
    before = raw.item(task_pk(task_id), TASK_SK)
    stranger = Acting(deployed.api("tenant-b"), api.subject)
    known, unknown = (stranger.call(method, f"/tasks/{each}{part}", STEPS[part]) for each in (task_id, never))
    for answer in (known, unknown):
        assert_problem(answer, 404, "not-found")
    assert {**known.json, "instance": ""} == {**unknown.json, "instance": ""}
    assert raw.item(task_pk(task_id), TASK_SK) == before
    assert items(stranger, f"/tasks?queue={queue}") == []
    assert claim(stranger, queue) == []


def test_a_task_is_its_tenants(worker: Acting, api: Acting, queue: str) -> None:
    made = new(api, queue)
    assert worker.call("GET", f"/tasks/{made['taskId']}").json == made
    assert items(worker, f"/tasks?queue={queue}") == [made]


def test_a_call_creates_tasks_as_it_ends(api: Acting, worker: Acting, queue: str) -> None:
    session_id = create(api)["sessionId"]
    calls = f"/sessions/{session_id}/tool-calls"
    begun = api.call("POST", calls, {"toolCallId": "c1", "toolName": "t", "input": 1}).json
    body = {"fence": begun["fence"], "output": 1, "tasks": [{"queue": queue, "payload": "follow up"}]}
    first, again = (api.call("POST", f"{calls}/c1/complete", body) for _ in range(2))
    assert first.json["tasks"] == again.json["tasks"]
    (task,) = claim(worker, queue, most=9)
    assert (task["taskId"], task["sessionId"]) == (first.json["tasks"][0], session_id)
