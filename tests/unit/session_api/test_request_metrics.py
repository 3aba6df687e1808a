"""The metrics of a request: every effect is counted once, and no content appears."""

import json
from typing import Any

import pytest

from session_api import request_metrics
from session_api.operations import OPERATIONS
from session_api.problems import PROBLEMS
from session_api.request_metrics import PROBLEM_METRICS
from session_store.errors import OutcomeUnknownError, StoreError, ThrottledError
from session_store.metric_names import Metric, Property
from session_store.storage.memory.sessions import MemorySessions
from tests.support.api import InProcessApi
from tests.support.functions import load
from tests.support.gateway import rest_event
from tests.support.lambda_context import Context
from tests.support.samples import NOW_MS, SESSION_ID
from tests.support.task_calls import Queue
from tests.support.world import World

CALL = {"toolName": "t", "input": 1, "output": 2, "durationMs": 5}
COUNTED = {
    "create_session": Metric.SESSIONS_CREATED,
    "delete_session": Metric.SESSIONS_DELETED,
    "append_messages": Metric.MESSAGES_APPENDED,
    "add_checkpoint": Metric.CHECKPOINTS_ADDED,
    "record_tool_call": Metric.TOOL_CALLS,
    "complete_tool_call": Metric.TOOL_CALLS,
    "fail_tool_call": Metric.TOOL_CALLS,
    "reconcile_tool_call": Metric.TOOL_CALLS,
    "create_task": Metric.TASKS_CREATED,
    "claim_tasks": Metric.TASKS_CLAIMED,
    "complete_task": Metric.TASKS_COMPLETED,
    "decide_task": Metric.APPROVALS_DECIDED,
}


@pytest.fixture
def session_id(api: InProcessApi) -> str:
    opened = api.open()
    assert api.counts() == {Metric.SERVED: 1, Metric.SESSIONS_CREATED: 1}
    return opened


def test_operations_declare_what_they_count() -> None:
    assert {each.name: each.counts for each in OPERATIONS if each.counts is not None} == COUNTED


def test_a_deleted_session_is_counted(api: InProcessApi, session_id: str) -> None:
    api.call("DELETE", f"/sessions/{session_id}")
    assert api.counts() == {Metric.SERVED: 1, Metric.SESSIONS_DELETED: 1}
    api.call("DELETE", f"/sessions/{session_id}")
    assert api.counts() == {Metric.REFUSED: 1}


def test_messages_are_counted_when_they_are_new_and_as_replays_when_they_are_not(
    api: InProcessApi, session_id: str
) -> None:
    path = f"/sessions/{session_id}/context"
    minted = api.call("POST", path, {"messages": [{"content": "a"}, {"content": "b"}]}).json["items"]
    assert api.counts() == {Metric.SERVED: 1, Metric.MESSAGES_APPENDED: 2}
    again = [{"messageId": item["messageId"], "content": item["content"]} for item in minted]
    api.call("POST", path, {"messages": [*again, {"content": "c"}]})
    assert api.counts() == {Metric.SERVED: 1, Metric.MESSAGES_APPENDED: 1, Metric.REPLAYS: 2}
    assert api.call("POST", path, {"messages": again}).status == 200
    assert api.counts() == {Metric.SERVED: 1, Metric.REPLAYS: 2}


def test_a_write_under_a_key_is_counted_once_and_then_as_a_replay(api: InProcessApi, session_id: str) -> None:
    key = {"Idempotency-Key": "k"}
    api.call("POST", "/sessions", {}, headers=key)
    assert api.counts() == {Metric.SERVED: 1, Metric.SESSIONS_CREATED: 1}
    api.call("POST", "/sessions", {}, headers=key)
    assert api.counts() == {Metric.SERVED: 1, Metric.REPLAYS: 1}
    for counted in ({Metric.SERVED: 1}, {Metric.SERVED: 1, Metric.REPLAYS: 1}):
        api.call("PATCH", f"/sessions/{session_id}/state", {"increment": {"n": 1}}, headers=key)
        assert api.counts() == counted


def test_a_checkpoint_is_counted_once_and_then_as_a_replay(api: InProcessApi, session_id: str) -> None:
    path = f"/sessions/{session_id}/checkpoints"
    named = {"data": 1, "checkpointId": api.world.ids.message_id(NOW_MS)}
    for body, key in ((named, {}), ({"data": 2}, {"Idempotency-Key": "k"})):
        api.call("POST", path, body, headers=key)
        assert api.counts() == {Metric.SERVED: 1, Metric.CHECKPOINTS_ADDED: 1}
        api.call("POST", path, body, headers=key)
        assert api.counts() == {Metric.SERVED: 1, Metric.REPLAYS: 1}
    api.call("POST", path, {**named, "data": 3})
    assert api.counts() == {Metric.REFUSED: 1, Metric.CONFLICTS: 1}


def test_a_tool_call_is_counted_once_and_then_as_a_replay(api: InProcessApi, session_id: str) -> None:
    path = f"/sessions/{session_id}/tool-calls/c1"
    api.call("PUT", path, CALL)
    assert api.counts() == {Metric.SERVED: 1, Metric.TOOL_CALLS: 1}
    api.call("PUT", path, CALL)
    assert api.counts() == {Metric.SERVED: 1, Metric.REPLAYS: 1}
    api.call("PUT", path, {**CALL, "output": 3})
    assert api.counts() == {Metric.REFUSED: 1, Metric.CONFLICTS: 1}


def test_a_failed_attempt_at_a_task_is_counted_as_a_replay_when_it_is_sent_again(
    api: InProcessApi, queue: Queue
) -> None:
    queue.created()
    task = queue.claimed()
    api.counts()
    queue.fail(task)
    assert api.counts() == {Metric.SERVED: 1}
    queue.fail(task)
    assert api.counts() == {Metric.SERVED: 1, Metric.REPLAYS: 1}


def test_each_kind_of_conflict_is_counted(api: InProcessApi, session_id: str) -> None:
    path = f"/sessions/{session_id}"
    (minted,) = api.call("POST", f"{path}/context", {"messages": [{"content": "a"}]}).json["items"]
    api.counts()
    refused = [
        api.call("PUT", f"{path}/state", {}, headers={"If-Match": '"7"'}),
        api.call("POST", f"{path}/status", {"to": "closed"}),
        api.call(
            "POST", f"{path}/context", {"messages": [{"messageId": minted["messageId"], "content": "b"}]}
        ),
    ]
    assert [answer.slug for answer in refused] == [
        "version-conflict",
        "invalid-transition",
        "content-conflict",
    ]
    assert api.counts() == {Metric.REFUSED: 3, Metric.CONFLICTS: 3}


@pytest.mark.parametrize(
    ("error", "metric"),
    [(ThrottledError(), Metric.THROTTLED), (OutcomeUnknownError(), Metric.OUTCOME_UNKNOWN)],
)
def test_throttling_and_a_lost_response_are_counted(
    api: InProcessApi, monkeypatch: pytest.MonkeyPatch, error: StoreError, metric: Metric
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(MemorySessions, "create", fail)
    assert api.call("POST", "/sessions", {}).status == 503
    assert api.counts() == {Metric.REFUSED: 1, metric: 1}


def test_reads_state_writes_and_refusals_add_to_no_other_metric(api: InProcessApi, session_id: str) -> None:
    api.call("GET", f"/sessions/{session_id}")
    api.call("PATCH", f"/sessions/{session_id}/state", {"set": {"a": 1}})
    assert api.counts() == {Metric.SERVED: 2}
    api.call("GET", f"/sessions/{SESSION_ID}")
    api.call("GET", "/nothing")
    assert api.counts() == {Metric.REFUSED: 2}


@pytest.mark.parametrize("written", ["ascii", "\u00e4\u00f6\u00fc\u4f1a\U0001f511"])
@pytest.mark.parametrize(("beyond", "large"), [(0, {Metric.LARGE_SESSION: 1}), (-1, {})])
def test_a_session_is_large_from_the_threshold_of_encoded_bytes(
    api: InProcessApi,
    monkeypatch: pytest.MonkeyPatch,
    written: str,
    beyond: int,
    large: dict[str, float],
) -> None:
    session_id = api.open(state={"a": written})
    size = len(api.call("GET", f"/sessions/{session_id}").text.encode())
    api.counts()
    monkeypatch.setattr(request_metrics, "LARGE_SESSION_BYTES", size - beyond)
    api.call("GET", f"/sessions/{session_id}")
    assert api.counts() == {Metric.SERVED: 1, **large}


def test_only_problems_that_are_declared_are_counted_beside_refused() -> None:
    assert set(PROBLEM_METRICS) <= set(PROBLEMS.values())


def emitted(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The one EMF line that was printed."""
    (line,) = (line for line in capsys.readouterr().out.splitlines() if '"_aws"' in line)
    found: dict[str, Any] = json.loads(line)
    return found


@pytest.mark.parametrize(
    ("method", "path", "operation", "status", "metric"),
    [
        ("GET", "/health", "get_health", 200, Metric.SERVED),
        ("GET", "/sessions/x", "get_session", 400, Metric.REFUSED),
        ("GET", "/marker-7d1f", "unknown", 404, Metric.REFUSED),
    ],
)
def test_a_later_request_is_one_line_that_says_operation_status_and_time(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    method: str,
    path: str,
    operation: str,
    status: int,
    metric: Metric,
) -> None:
    module = load(monkeypatch, "session_api")
    ticks = iter([10.0, 10.0125, 20.0, 20.0125])
    resolver = type(module.resolver)(
        store=world.store,
        settings=module.settings,
        logger=module.logger,
        request_metrics=module.resolver.request_metrics,
        monotonic=lambda: next(ticks),
    )
    monkeypatch.setattr(module, "app", resolver.build())
    # The first request of a process is counted as a cold start too, in a line of its own.
    for _ in range(2):
        capsys.readouterr()
        module.handler(rest_event(method, path, body={"secret": "marker-7d1f"}), Context("session-api"))
    printed = emitted(capsys)
    (described,) = printed["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == "SessionStore"
    assert described["Dimensions"] == [["service"]]
    assert [each["Name"] for each in described["Metrics"]] == [metric]
    assert printed[metric] == [1.0]
    told = {name: printed[name] for name in Property}
    assert told == {"operation": operation, "status": status, "durationMs": 12.5}
    assert "marker-7d1f" not in json.dumps(printed)
