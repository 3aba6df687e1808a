"""What the deployed functions count, read from the lines that they leave in their logs."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from local.deployment import STAGE
from session_store.metric_names import COLD_START, FUNCTION_NAME, Metric, Property, namespace_of
from session_store.schema import Attribute
from tests.support.calls import Acting, message_id
from tests.support.emulator import LiveStack
from tests.support.logs import from_now_on, log_lines, nudge
from tests.support.samples import a_session
from tests.support.stream import a_record, image_of

PATIENCE = 60


def told(stack: LiveStack, *, since: int = 0) -> Iterator[dict[str, Any]]:
    """Every line of metrics, from a time in epoch milliseconds on."""
    for line in log_lines(stack, since=since):
        if '"_aws"' in line:
            yield json.loads(line[line.index("{") :])


def counted(stack: LiveStack, operation: str, *, since: int) -> Counter[str]:
    """What requests of one operation have been counted as."""
    counts: Counter[str] = Counter()
    for line in told(stack, since=since):
        if line.get(Property.OPERATION) == operation:
            counts.update({name: sum(line[name]) for name in Metric if name in line})
    return counts


def until_it_is(
    expected: Counter[str], actual: Callable[[], Counter[str]], again: Callable[[], object]
) -> Counter[str]:
    """Logs arrive a moment later than answers, or with what is called ``again``."""
    deadline = time.monotonic() + PATIENCE
    while (found := actual()) != expected and time.monotonic() < deadline:
        time.sleep(0.2)
        again()
    return found


@pytest.mark.parametrize(
    ("operation", "metric"),
    [
        ("append_messages", Metric.MESSAGES_APPENDED),
        ("add_checkpoint", Metric.CHECKPOINTS_ADDED),
        ("record_tool_call", Metric.TOOL_CALLS),
    ],
)
def test_a_replay_is_counted_as_a_replay_and_not_as_a_new_one(
    deployed: LiveStack, api: Acting, operation: str, metric: Metric
) -> None:
    path = f"/sessions/{api.call('POST', '/sessions', {}).json['sessionId']}"
    nudge(deployed)
    began = from_now_on()
    if operation == "append_messages":
        (first,) = api.call("POST", f"{path}/context", {"messages": [{"content": "a"}]}).json["items"]
        again = {"messageId": first["messageId"], "content": "a"}
        assert api.call("POST", f"{path}/context", {"messages": [again]}).status == 200
    elif operation == "add_checkpoint":
        kept = {"data": "a", "checkpointId": message_id()}
        assert [api.call("POST", f"{path}/checkpoints", kept).status for _ in range(2)] == [201, 200]
    else:
        call = {"toolName": "t", "input": 1, "output": 2, "durationMs": 3}
        assert [api.call("PUT", f"{path}/tool-calls/c", call).status for _ in range(2)] == [201, 200]
    expected: Counter[str] = Counter({Metric.SERVED: 2, metric: 1, Metric.REPLAYS: 1})
    found = until_it_is(expected, lambda: counted(deployed, operation, since=began), lambda: nudge(deployed))
    assert found == expected


def test_the_census_counts_under_its_own_role(deployed: LiveStack, api: Acting) -> None:
    api.call("POST", "/sessions", {})
    began = from_now_on()
    deadline = time.monotonic() + PATIENCE
    gauges: dict[str, float] = {}
    while len(gauges) < 5 and time.monotonic() < deadline:
        answer = deployed.emulator.client("lambda").invoke(FunctionName=deployed.function("session_census"))
        assert "FunctionError" not in answer
        lines = [line for line in told(deployed, since=began) if Metric.LIVING_SESSIONS in line]
        gauges = {line.get("status", "all"): line[Metric.LIVING_SESSIONS][0] for line in lines}
        assert {line["_aws"]["CloudWatchMetrics"][0]["Namespace"] for line in lines} <= {namespace_of(STAGE)}
    assert set(gauges) == {"all", "initializing", "active", "closing", "closed"}
    assert gauges["initializing"] >= 1


def test_every_function_tells_of_its_cold_start_under_the_name_that_it_has(
    deployed: LiveStack,
) -> None:
    # A change that the audit passes over, and a message that nobody understands: neither leaves anything.
    region = {name.value: {"S": "eu-west-1"} for name in (Attribute.HOME_REGION, Attribute.WRITE_REGION)}
    elsewhere = a_record(new={**image_of(a_session()), **region})
    message = {"messageId": "m", "body": "{}", "eventSource": "aws:sqs"}
    events: Mapping[str, object] = {
        "audit_consumer": {"Records": [elsewhere]},
        "expiry_cleanup": {"Records": [message]},
        "expiry_watch": {},
        "heartbeat": {},
        "session_census": {},
    }

    def run_all() -> None:
        nudge(deployed)
        for package, event in events.items():
            invoked = deployed.emulator.client("lambda").invoke(
                FunctionName=deployed.function(package), Payload=json.dumps(event)
            )
            assert "FunctionError" not in invoked, invoked["Payload"].read()

    run_all()
    expected = Counter(deployed.function(package) for package in ("session_api", *events))

    def cold() -> Counter[str]:
        return Counter({line[FUNCTION_NAME] for line in told(deployed) if COLD_START in line})

    assert until_it_is(expected, cold, run_all) == expected
