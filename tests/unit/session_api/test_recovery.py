"""The recovery of a session whose worker is gone."""

from typing import Any

from session_store.domain.claim import LEASE_SKEW_MARGIN_MS
from tests.support.api import InProcessApi
from tests.support.samples import DAY

LEASE = 60
OVER = LEASE + LEASE_SKEW_MARGIN_MS / 1000


def begin(api: InProcessApi, session_id: str, call_id: str, **changes: Any) -> Any:
    body = {"toolCallId": call_id, "toolName": "pay", "input": 1, "leaseSeconds": LEASE, **changes}
    return api.call("POST", f"/sessions/{session_id}/tool-calls", body).json


def recovery(api: InProcessApi, session_id: str, **query: str) -> Any:
    answer = api.call("GET", f"/sessions/{session_id}/recovery", query=query)
    assert answer.status == 200, answer
    return answer.json


def task(api: InProcessApi, **body: Any) -> str:
    task_id: str = api.call("POST", "/tasks", {"queue": "mail", "payload": {"n": 1}, **body}).json["taskId"]
    return task_id


def test_an_idle_session_has_nothing_to_recover(api: InProcessApi) -> None:
    found = recovery(api, api.open())
    assert found == {"inFlight": [], "outcomeUnknown": [], "openTasks": [], "more": False, "checkpoint": None}


def test_calls_are_in_flight_or_unknown_and_shown_without_their_inputs(api: InProcessApi) -> None:
    session_id = api.open()
    path = f"/sessions/{session_id}/tool-calls"
    done = begin(api, session_id, "done")
    api.call("POST", f"{path}/done/complete", {"fence": done["fence"], "output": 1})
    begin(api, session_id, "lost")
    begin(api, session_id, "safe", retrySafe=True)
    api.world.clock.pass_(OVER)
    running = begin(api, session_id, "runs")
    found = recovery(api, session_id)
    assert [call["toolCallId"] for call in found["inFlight"]] == ["safe", "runs"]
    assert [call["toolCallId"] for call in found["outcomeUnknown"]] == ["lost"]
    assert found["inFlight"][1]["fence"] == running["fence"]
    assert found["inFlight"][1]["leaseUntil"] == running["leaseUntil"]
    assert "input" not in found["inFlight"][1]


def test_a_reconciled_call_is_no_longer_unknown(api: InProcessApi) -> None:
    session_id = api.open()
    begin(api, session_id, "lost")
    api.world.clock.pass_(OVER)
    (unknown,) = recovery(api, session_id)["outcomeUnknown"]
    path = f"/sessions/{session_id}/tool-calls/lost/reconcile"
    body = {"outcome": "completed", "output": 1, "fence": unknown["fence"]}
    assert api.call("POST", path, body).status == 200
    assert recovery(api, session_id)["outcomeUnknown"] == []


def test_tasks_are_those_of_the_session_that_are_not_over(api: InProcessApi) -> None:
    session_id = api.open()
    pending, over = task(api, sessionId=session_id), task(api, sessionId=session_id)
    task(api)
    task(api, sessionId=api.open())
    assert api.call("POST", f"/tasks/{over}/cancel").status == 200
    (found,) = recovery(api, session_id)["openTasks"]
    assert (found["taskId"], found["status"], found["queue"]) == (pending, "pending", "mail")
    assert "payload" not in found


def test_a_view_has_the_hundred_oldest_calls_of_each_kind_and_says_if_there_are_more(
    api: InProcessApi,
) -> None:
    session_id = api.open()
    for number in range(101):
        api.world.clock.pass_(0.001)
        begin(api, session_id, f"lost-{999 - number}")
        if number == 99:
            api.world.clock.pass_(OVER)
            assert recovery(api, session_id)["more"] is False
    api.world.clock.pass_(OVER)
    found = recovery(api, session_id)
    assert [call["toolCallId"] for call in found["outcomeUnknown"]] == [f"lost-{999 - n}" for n in range(100)]
    assert (found["inFlight"], found["more"]) == ([], True)
    begin(api, session_id, "runs")
    assert [call["toolCallId"] for call in recovery(api, session_id)["inFlight"]] == ["runs"]


def test_more_open_tasks_than_a_view_has_are_told(api: InProcessApi) -> None:
    session_id = api.open()
    opened = []
    for _ in range(100):
        opened.append(task(api, sessionId=session_id))
        api.world.clock.pass_(1)
    assert recovery(api, session_id)["more"] is False
    task(api, sessionId=session_id)
    found = recovery(api, session_id)
    assert [each["taskId"] for each in found["openTasks"]] == opened
    assert found["more"] is True


def test_a_checkpoint_is_the_newest_of_its_namespace(api: InProcessApi) -> None:
    session_id = api.open()
    for namespace, data in (("", 1), ("", 2), ("plan", 3)):
        api.call("POST", f"/sessions/{session_id}/checkpoints", {"namespace": namespace, "data": data})
        api.world.clock.pass_(1)
    assert recovery(api, session_id)["checkpoint"]["data"] == 2
    assert recovery(api, session_id, namespace="plan")["checkpoint"]["data"] == 3
    assert recovery(api, session_id, namespace="other")["checkpoint"] is None
    assert api.call("GET", f"/sessions/{session_id}/recovery", query={"namespace": ".."}).status == 400


def test_only_the_owner_recovers_a_session_and_doing_so_is_a_use_of_it(api: InProcessApi) -> None:
    session_id = api.open(idleTimeout=DAY)
    assert api.call("GET", f"/sessions/{session_id}/recovery", subject="bob").status == 404
    before = api.world.stored(session_id).ttl
    api.world.clock.pass_(DAY / 5)
    recovery(api, session_id)
    assert api.world.stored(session_id).ttl > before
