"""What the deployed stack has logged."""

import time
from collections.abc import Iterator
from typing import Any, Final

from tests.support.emulator import LiveStack

API: Final = "SessionApi"
"""In the name of the log group of the function behind the API."""


def log_lines(stack: LiveStack, *, of: str = "", since: int = 0) -> Iterator[str]:
    """Every line of every log group whose name has ``of``, from a time in epoch milliseconds on."""
    logs = stack.emulator.client("logs")
    for group in logs.describe_log_groups()["logGroups"]:
        name = group["logGroupName"]
        if of not in name:
            continue
        for page in logs.get_paginator("describe_log_streams").paginate(logGroupName=name):
            for stream in page["logStreams"]:
                if stream.get("lastEventTimestamp", since) < since:
                    continue
                yield from _lines(logs, group=name, stream=stream["logStreamName"], since=since)


def from_now_on() -> int:
    """Epoch milliseconds, later than those of every line that there is."""
    return int(time.time() * 1000) + 1


def invocations(stack: LiveStack, *, since: int) -> int:
    """How often the function behind the API was called: the platform's own lines, there before the answer."""
    return sum(line.startswith("START ") for line in log_lines(stack, of=API, since=since))


def nudge(stack: LiveStack) -> None:
    """Have the API's function called once more: what a process printed after the emulator had read its lines
    is among those of its next call.
    """
    assert stack.api().call("GET", "/health").status == 200


def _lines(logs: Any, *, group: str, stream: str, since: int) -> Iterator[str]:
    """Read by stream: the emulator's search of a group ends at 10,000 lines, without a word."""
    asked = {"logGroupName": group, "logStreamName": stream, "startTime": since, "startFromHead": True}
    answer = logs.get_log_events(**asked)
    while answer["events"]:
        yield from (event["message"] for event in answer["events"])
        answer = logs.get_log_events(**asked, nextToken=answer["nextForwardToken"])
