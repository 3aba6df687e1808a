"""What the deployed stack has logged."""

from collections.abc import Iterator

from tests.support.emulator import LiveStack


def log_lines(stack: LiveStack) -> Iterator[str]:
    """Every line of every log group."""
    logs = stack.emulator.client("logs")
    for group in logs.describe_log_groups()["logGroups"]:
        for page in logs.get_paginator("filter_log_events").paginate(logGroupName=group["logGroupName"]):
            yield from (event["message"] for event in page["events"])
