"""Tool calls begun, held and ended over the API: who may, what is answered, what changes with them."""

from typing import Any

import pytest

from session_store.domain.claim import SKEW_MARGIN_MS
from session_store.domain.identifiers import MessageIds
from session_store.metric_names import Metric
from tests.support.api import Answer, InProcessApi, StoreApi
from tests.support.samples import DAY, NOW_SECONDS, SESSION_ID
from tests.support.world import World

LEASE = 60
OVER = LEASE + SKEW_MARGIN_MS / 1000
INPUT = {"q": "x", "n": 0.1, "big": 9007199254740993}


class Session:
    """A session in active, and the calls in it."""

    def __init__(self, api: InProcessApi, **body: Any) -> None:
        self.api = api
        self.clock = api.world.clock
        self.id = api.open(**body)
        self.call("POST", "/status", {"to": "active"})
        api.counts()

    def call(self, method: str, path: str, body: object = None, **rest: Any) -> Answer:
        return self.api.call(method, f"/sessions/{self.id}{path}", body, **rest)

    def begin(self, call_id: str = "c1", **changes: Any) -> Answer:
        body = {"toolCallId": call_id, "toolName": "pay", "input": INPUT, **changes}
        return self.call("POST", "/tool-calls", body)

    def fence(self, call_id: str = "c1", **changes: Any) -> int:
        begun = self.begin(call_id, **changes)
        assert begun.status == 201, begun
        fence: int = begun.json["fence"]
        return fence

    def end(self, step: str, fence: int, call_id: str = "c1", **body: Any) -> Answer:
        return self.call("POST", f"/tool-calls/{call_id}/{step}", {"fence": fence, **body})

    def complete(self, fence: int, call_id: str = "c1", **changes: Any) -> Answer:
        return self.end("complete", fence, call_id, **{"output": {"ok": True}, **changes})

    def reconcile(self, outcome: str, **body: Any) -> Answer:
        return self.call("POST", "/tool-calls/c1/reconcile", {"outcome": outcome, **body})

    def read(self) -> Any:
        return self.call("GET", "").json

    def move(self, *steps: str) -> None:
        for step in steps:
            assert self.call("POST", "/status", {"to": step}).status == 200


@pytest.fixture
def api(world: World) -> InProcessApi:
    return InProcessApi(world)


@pytest.fixture
def session(api: InProcessApi) -> Session:
    return Session(api)


def test_a_call_is_begun_once_run_and_recorded(session: Session) -> None:
    begun = session.begin()
    assert begun.status == 201
    expected = {"toolCallId": "c1", "status": "in_progress", "input": INPUT, "output": None}
    assert {name: begun.json[name] for name in expected} == expected
    assert len(begun.json["downstreamToken"]) == 36
    assert session.call("GET", "/tool-calls/c1").json == {
        name: value for name, value in begun.json.items() if name != "downstreamToken"
    }
    assert session.call("GET", "/tool-calls").json["items"] == []
    session.clock.pass_(1.5)
    done = session.complete(begun.json["fence"])
    assert done.status == 200
    assert (done.json["status"], done.json["output"], done.json["durationMs"]) == (
        "completed",
        {"ok": True},
        1500,
    )
    assert (done.json["leaseUntil"], done.json["startedAt"]) == (None, begun.json["startedAt"])
    there = session.read()
    assert done.json["session"] == {"version": there["version"], "ttl": there["ttl"]}
    record = session.call("GET", "/tool-calls/c1").json
    assert record == {name: value for name, value in done.json.items() if name not in {"session", "tasks"}}
    assert session.call("GET", "/tool-calls").json["items"] == [record]
    assert [event.event_name for event in session.api.world.memory.events] == ["ToolCallCompleted"]


def test_the_same_begin_later_is_the_stored_outcome(session: Session) -> None:
    token = session.begin(attemptId="a").json["downstreamToken"]
    session.complete(session.fence(attemptId="a"))
    session.api.counts()
    session.clock.pass_(1)
    again = session.begin()
    assert (again.status, again.json["output"], again.json["downstreamToken"]) == (200, {"ok": True}, token)
    assert session.api.counts() == {Metric.SERVED: 1, Metric.REPLAYS: 1}


def test_the_same_attempt_is_given_its_fence_again(session: Session) -> None:
    first = session.begin(attemptId="a")
    session.clock.pass_(1)
    assert session.begin(attemptId="a").json == first.json


def test_a_running_call_is_in_progress_to_everybody_else(session: Session) -> None:
    session.begin()
    session.clock.pass_(20)
    other = session.begin()
    assert (other.status, other.slug, other.headers["Retry-After"]) == (409, "in-progress", "44")
    assert session.begin(input={"q": "y"}).slug == "idempotency-mismatch"
    assert session.begin(toolName="other").status == 422


def test_a_call_whose_worker_died_is_unknown_or_taken_over(session: Session) -> None:
    first = session.fence()
    safe = session.fence("c2", retrySafe=True)
    session.clock.pass_(OVER - 0.001)
    assert (session.begin().slug, session.begin("c2").slug) == ("in-progress", "in-progress")
    session.clock.pass_(0.001)
    unknown = session.begin()
    assert (unknown.status, unknown.slug) == (409, "outcome-unknown")
    assert session.fence("c2", retrySafe=True) > safe
    # Nobody has taken the first one over: whoever holds it may still tell.
    assert session.complete(first).status == 200


@pytest.mark.parametrize("step", ["complete", "fail", "heartbeat"])
def test_a_zombie_is_fenced_and_the_newer_result_stands(session: Session, step: str) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "complete": {"output": "old"},
        "fail": {"error": "old"},
        "heartbeat": {"leaseSeconds": 9},
    }
    body = bodies[step]
    zombie = session.fence(retrySafe=True)
    session.clock.pass_(OVER)
    newer = session.fence(retrySafe=True)
    assert session.end(step, zombie, **body).slug == "fenced"
    session.complete(newer, output="new")
    assert session.end(step, zombie, **body).slug == "fenced"
    assert session.call("GET", "/tool-calls/c1").json["output"] == "new"


@pytest.mark.parametrize("ended", ["", "closing", "closed", "expired", "deleted"])
def test_the_same_outcome_again_is_a_success_whatever_the_session_is_by_then(
    session: Session, ended: str
) -> None:
    fence = session.fence()
    first = session.complete(fence)
    if ended == "expired":
        session.clock.pass_(2 * 3600)
    elif ended == "deleted":
        session.call("DELETE", "")
    elif ended:
        session.move(*["closing", "closed"][: 1 if ended == "closing" else 2])
    session.api.counts()
    again = session.complete(fence)
    assert again.status == 200
    same = {"toolCallId", "output", "fence", "completedAt"}
    assert {name: again.json[name] for name in same} == {name: first.json[name] for name in same}
    assert (again.json["session"] is None) == (ended in ("expired", "deleted"))
    assert session.api.counts() == {Metric.SERVED: 1, Metric.REPLAYS: 1}
    other = session.complete(fence, output="other")
    assert other.status == (404 if ended in ("expired", "deleted") else 422)


@pytest.mark.parametrize("status", ["closing", "closed"])
def test_a_running_call_may_end_in_a_session_that_is_closing_if_it_leaves_it_alone(
    session: Session, status: str
) -> None:
    fence, failing = session.fence(), session.fence("c2")
    session.move(*["closing", "closed"][: 1 if status == "closing" else 2])
    assert session.begin("c3").slug == "session-closed"
    assert session.end("heartbeat", fence, leaseSeconds=90).status == 200
    assert session.complete(fence, state={"set": {"a": 1}}).slug == "session-closed"
    assert session.complete(fence, messages=[{"content": "late"}]).slug == "session-closed"
    version = session.read()["version"]
    assert session.complete(fence).status == 200
    assert session.end("fail", failing, "c2", error="no").json["status"] == "failed"
    assert session.read()["version"] == version


def test_what_a_call_changes_changes_with_it(session: Session) -> None:
    fence = session.fence()
    version = session.read()["version"]
    done = session.complete(
        fence,
        state={"set": {"a": 0.1}, "increment": {"n": 2}},
        messages=[{"content": "one"}, {"content": "two"}],
        status={"to": "closing"},
        expectedVersion=version,
    )
    assert done.status == 200, done
    there = session.read()
    assert (there["state"], there["status"], there["version"]) == ({"a": 0.1, "n": 2}, "closing", version + 1)
    assert done.json["session"] == {"version": version + 1, "ttl": there["ttl"]}
    contents = [item["content"] for item in session.call("GET", "/context").json["items"]]
    assert contents == ["one", "two"]


def test_a_call_that_closes_its_session_is_repeated_after_that(session: Session) -> None:
    fence = session.fence()
    session.move("closing")
    ends: dict[str, Any] = {"status": {"to": "closed"}}
    assert session.complete(fence, **ends).status == 200
    assert session.read()["ttl"] == NOW_SECONDS + DAY
    assert session.complete(fence, **ends).json["status"] == "completed"


@pytest.mark.parametrize(
    ("change", "status", "slug"),
    [
        ({"expectedVersion": 1}, 409, "version-conflict"),
        ({"expectedVersion": 1, "state": {"set": {"a": 1}}}, 409, "version-conflict"),
        ({"state": {"increment": {"text": 1}}}, 400, "invalid-request"),
        ({"state": {"set": {}}}, 400, "invalid-request"),
        ({"status": {"to": "closed"}}, 409, "invalid-transition"),
        ({"tasks": [{"queue": "q"}]}, 400, "invalid-request"),
        ({"messages": [{"content": 1, "messageId": "nope"}]}, 400, "invalid-request"),
        ({"durationMs": -1}, 400, "invalid-request"),
    ],
)
def test_a_completion_that_is_refused_does_nothing(
    session: Session, change: dict[str, Any], status: int, slug: str
) -> None:
    session.call("PATCH", "/state", {"set": {"text": "t"}})
    fence = session.fence()
    before = session.read()
    refused = session.complete(fence, **change)
    assert (refused.status, refused.slug) == (status, slug), refused
    assert session.read() == before
    assert session.call("GET", "/tool-calls/c1").json["status"] == "in_progress"
    assert session.complete(fence).status == 200


@pytest.mark.parametrize(
    ("state", "path"),
    [
        ({"increment": {"text": 1}}, "$.state.increment.text"),
        ({"set": {"a": 1}, "remove": ["a"]}, "$.state.remove.a"),
        ({"append": {"a": 1}}, "$.state.append.a"),
    ],
)
def test_what_is_wrong_in_a_completion_is_named_where_it_stands(
    session: Session, state: dict[str, Any], path: str
) -> None:
    session.call("PATCH", "/state", {"set": {"text": "t"}})
    assert session.complete(session.fence(), state=state).json["path"] == path


def test_messages_of_a_completion_are_judged_as_any_others_are(session: Session) -> None:
    minter = MessageIds(random_bytes=lambda length: b"r" * length)
    there, old = minter.mint(session.clock.now_ms()), minter.mint(session.clock.now_ms() + 600_000)
    session.call("POST", "/context", {"messages": [{"content": "there", "messageId": there}]})
    fence = session.fence()
    other = session.complete(fence, messages=[{"content": "other", "messageId": there}])
    assert other.slug == "content-conflict"
    assert session.complete(fence, messages=[{"content": "x", "messageId": old}]).status == 400
    both = [{"content": "there", "messageId": there}, {"content": "new"}]
    assert session.complete(fence, messages=both).status == 200
    contents = [item["content"] for item in session.call("GET", "/context").json["items"]]
    assert sorted(contents) == ["new", "there"]


def test_a_failed_call_is_recorded_too(session: Session) -> None:
    fence = session.fence()
    failed = session.end("fail", fence, error={"code": 7}, durationMs=12)
    assert (failed.json["status"], failed.json["error"], failed.json["durationMs"]) == (
        "failed",
        {"code": 7},
        12,
    )
    assert session.end("fail", fence, error={"code": 7}, durationMs=12).status == 200
    assert session.complete(fence).status == 422
    assert session.begin().json["error"] == {"code": 7}
    assert [item["status"] for item in session.call("GET", "/tool-calls").json["items"]] == ["failed"]


def test_a_heartbeat_holds_the_call_and_its_session(api: InProcessApi) -> None:
    session = Session(api, idleTimeout=10)
    fence = session.fence(leaseSeconds=30)
    assert session.read()["ttl"] == NOW_SECONDS + 1 + 30 + 60
    session.clock.pass_(25)
    held = session.end("heartbeat", fence, leaseSeconds=3600)
    assert held.status == 200
    assert session.read()["ttl"] == NOW_SECONDS + 1 + 25 + 3600 + 60
    session.clock.pass_(3600)
    assert session.begin().slug == "in-progress"
    assert session.complete(fence).status == 200


def test_a_lease_ends_a_minute_before_its_session_must(api: InProcessApi) -> None:
    session = Session(api, maxLifetime=300)
    begun = session.begin(leaseSeconds=3600).json
    assert begun["leaseUntil"] == "2027-01-15T08:04:00.000Z"
    assert session.read()["ttl"] == NOW_SECONDS + 300


def test_an_unknown_outcome_is_reconciled(session: Session) -> None:
    fence = session.fence()
    assert session.reconcile("completed", output=1).slug == "in-progress"
    session.clock.pass_(OVER)
    known = session.reconcile("completed", output="found in the other system")
    assert (known.status, known.json["status"]) == (200, "completed")
    assert session.reconcile("completed", output="found in the other system").status == 200
    assert session.reconcile("failed", error=1).status == 422
    assert session.complete(fence).slug == "fenced"
    assert session.begin().json["output"] == "found in the other system"
    assert [event.event_name for event in session.api.world.memory.events] == ["ToolCallReconciled"]


def test_a_reconciled_call_may_be_tried_again(session: Session) -> None:
    begun = session.begin().json
    session.clock.pass_(OVER)
    assert session.reconcile("retry").json["status"] == "in_progress"
    assert session.reconcile("retry").status == 200
    assert session.complete(begun["fence"]).slug == "fenced"
    again = session.begin()
    assert (again.status, again.json["downstreamToken"]) == (201, begun["downstreamToken"])
    assert again.json["fence"] > begun["fence"]
    assert session.complete(again.json["fence"]).json["startedAt"] == begun["startedAt"]


@pytest.mark.parametrize(
    "body",
    [
        {"outcome": "retry", "output": 1},
        {"outcome": "completed", "error": 1},
        {"outcome": "failed", "output": 1},
    ],
)
def test_what_is_reconciled_has_what_fits_it(session: Session, body: dict[str, Any]) -> None:
    assert session.call("POST", "/tool-calls/c1/reconcile", body).status == 400


def test_what_was_found_out_of_one_attempt_is_not_said_of_another(session: Session) -> None:
    first = session.fence()
    session.clock.pass_(OVER)
    assert session.reconcile("retry", fence=first).status == 200
    second = session.fence(leaseSeconds=1)
    session.clock.pass_(OVER)
    for outcome in ("retry", "completed"):
        assert session.reconcile(outcome, fence=first).slug == "fenced"
    assert session.begin().slug == "outcome-unknown"
    assert session.reconcile("completed", fence=second).status == 200


def test_what_nobody_holds_lasted_no_longer_than_its_lease(session: Session) -> None:
    session.begin()
    session.clock.pass_(DAY / 48)
    known = session.reconcile("completed").json
    assert known["durationMs"] == LEASE * 1000


def test_a_recorded_call_over_a_forsaken_one_does_not_end_before_it_starts(session: Session) -> None:
    begun = session.begin(retrySafe=True).json
    session.clock.pass_(OVER)
    early = {"durationMs": 3, "startedAt": "2027-01-15T07:00:00Z"}
    body = {"toolName": "pay", "input": INPUT, "output": 1, **early}
    recorded = session.call("PUT", "/tool-calls/c1", body).json
    assert recorded["startedAt"] == recorded["completedAt"] == begun["startedAt"]


def test_a_call_that_was_not_settled_before_the_session_closed_is_not_recorded_after_it(
    session: Session,
) -> None:
    session.begin()
    session.move("closing", "closed")
    body = {"toolName": "pay", "input": INPUT, "output": 1, "durationMs": 3}
    for _ in range(2):
        assert session.call("PUT", "/tool-calls/c1", body).slug == "session-closed"
        session.clock.pass_(OVER)


def test_a_begin_that_gives_no_leave_keeps_no_session_alive(api: InProcessApi) -> None:
    session = Session(api, idleTimeout=60)
    session.complete(session.fence(leaseSeconds=1))
    before = session.read()["ttl"]
    assert session.begin(leaseSeconds=3600).status == 200
    assert session.begin(leaseSeconds=3600, input="other").status == 422
    assert session.read()["ttl"] == before


def test_messages_of_a_completion_are_counted(session: Session) -> None:
    fence = session.fence()
    session.api.counts()
    session.complete(fence, messages=[{"content": 1}, {"content": 2}])
    assert session.api.counts() == {Metric.SERVED: 1, Metric.TOOL_CALLS: 1, Metric.MESSAGES_APPENDED: 2}


def test_an_end_is_not_told_by_another_region_than_the_home(session: Session) -> None:
    fence = session.fence()
    session.complete(fence)
    abroad = StoreApi(session.api.world.seen_from("eu-west-1"))
    body = {"fence": fence, "output": {"ok": True}}
    answer = abroad.call("POST", f"/sessions/{session.id}/tool-calls/c1/complete", body)
    assert (answer.status, answer.slug) == (421, "misdirected")


def test_a_recorded_call_meets_one_that_is_being_run(session: Session) -> None:
    body = {"toolName": "pay", "input": INPUT, "output": 1, "durationMs": 3}
    session.begin(retrySafe=True)
    assert session.call("PUT", "/tool-calls/c1", body).slug == "in-progress"
    session.begin("c2")
    session.clock.pass_(OVER)
    assert session.call("PUT", "/tool-calls/c2", body).slug == "outcome-unknown"
    assert session.call("PUT", "/tool-calls/c1", body).status == 201
    assert session.begin().json["output"] == 1
    assert len(session.call("GET", "/tool-calls").json["items"]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"leaseSeconds": 0},
        {"leaseSeconds": 3601},
        {"leaseSeconds": "60"},
        {"leaseSeconds": True},
        {"attemptId": ""},
        {"toolCallId": ".."},
        {"toolCallId": "x" * 257},
        {"toolName": "a b"},
        {"retrySafe": 1},
        {"unknown": 1},
    ],
)
def test_a_begin_that_is_not_valid_writes_nothing(session: Session, change: dict[str, Any]) -> None:
    assert session.begin(**change).status == 400
    assert session.api.world.memory.claims == {}


def test_an_unknown_call_has_no_step(session: Session) -> None:
    assert session.complete(1).slug == "not-found"
    assert session.end("heartbeat", 1, leaseSeconds=9).slug == "not-found"
    assert session.reconcile("retry").slug == "not-found"


def test_a_stranger_has_the_answers_of_an_unknown_session(session: Session) -> None:
    fence = session.fence()
    session.complete(fence)
    done = {"fence": fence, "output": {"ok": True}}
    for path, body in (
        ("/tool-calls", {"toolCallId": "c1", "toolName": "pay", "input": INPUT}),
        ("/tool-calls/c1/complete", done),
        ("/tool-calls/c1/fail", {"fence": fence, "error": 1}),
        ("/tool-calls/c1/heartbeat", {"fence": fence, "leaseSeconds": 3}),
        ("/tool-calls/c1/reconcile", {"outcome": "retry"}),
    ):
        there = session.call("POST", path, body, subject="bob")
        nowhere = session.api.call("POST", f"/sessions/{SESSION_ID}{path}", body, subject="bob")
        assert (there.status, there.text) == (404, nowhere.text)
    assert session.call("GET", "/recovery", subject="bob").status == 404


def test_ids_that_look_like_parts_of_a_key_stay_apart(session: Session) -> None:
    for call_id in ("a", "a#b", "a%23b"):
        session.begin(call_id, input=call_id)
    for call_id, path in (("a", "a"), ("a#b", "a%23b"), ("a%23b", "a%2523b")):
        assert session.call("GET", f"/tool-calls/{path}").json["input"] == call_id


def test_tasks_are_there_with_the_completion_that_names_them_and_once(session: Session) -> None:
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
def test_a_task_that_cannot_go_with_a_call_is_refused_by_its_place(
    session: Session, task: dict[str, Any], path: str
) -> None:
    fence = session.fence()
    answer = session.complete(fence, tasks=[{"queue": "q", "payload": 1}, task])
    assert (answer.status, answer.json["path"]) == (400, path)
    assert session.api.world.memory.tasks == {}


def test_a_call_brings_no_more_tasks_than_one_transaction_takes(session: Session) -> None:
    fence = session.fence()
    tasks = [{"queue": "q", "payload": number} for number in range(26)]
    assert session.complete(fence, tasks=tasks).status == 400
    assert session.complete(fence, tasks=tasks[:25]).status == 200
    assert len(session.api.world.memory.tasks) == 25
