"""What the deployed stack has logged."""

from collections.abc import Iterator
from typing import Any

from tests.support.emulator import LiveStack


def log_lines(stack: LiveStack, *, since: int = 0) -> Iterator[str]:
    """Every line of every log group, from a time in epoch milliseconds on."""
    logs = stack.emulator.client("logs")
    for group in logs.describe_log_groups()["logGroups"]:
        name = group["logGroupName"]
        for page in logs.get_paginator("describe_log_streams").paginate(logGroupName=name):
            for stream in page["logStreams"]:
                yield from _lines(logs, group=name, stream=stream["logStreamName"], since=since)


def _lines(logs: Any, *, group: str, stream: str, since: int) -> Iterator[str]:
    """Read by stream: the emulator's search of a group ends at 10,000 lines, without a word."""
    asked = {"logGroupName": group, "logStreamName": stream, "startTime": since, "startFromHead": True}
    answer = logs.get_log_events(**asked)
    while answer["events"]:
        yield from (event["message"] for event in answer["events"])
        answer = logs.get_log_events(**asked, nextToken=answer["nextForwardToken"])
