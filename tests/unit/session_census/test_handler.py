"""The census's function, as the schedule starts it."""

import json
import warnings
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.session import Status
from tests.support.functions import load
from tests.support.lambda_context import Context
from tests.support.world import World

SCHEDULED = {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}


def run(world: World, monkeypatch: pytest.MonkeyPatch, *, seconds: int) -> Deadline:
    module = load(monkeypatch, "session_census")
    deadline = Deadline()
    counting = replace(module.census, sessions=world.sessions, clock=world.clock, deadline=deadline)
    monkeypatch.setattr(module, "census", counting)
    module.handler(SCHEDULED, Context("session-census", seconds=seconds))
    return deadline


def gauges(printed: str) -> list[Any]:
    return [json.loads(line) for line in printed.splitlines() if '"_aws"' in line]


def test_a_run_publishes_a_gauge_for_each_status_and_sets_its_deadline(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        world.open(status=Status.ACTIVE)
    world.open(status=Status.CLOSED)
    deadline = run(world, monkeypatch, seconds=300)
    assert 290 < deadline.remaining() <= 300
    lines = gauges(capsys.readouterr().out)
    (all_of_them,) = (line for line in lines if "LivingSessions" in line and "status" not in line)
    assert all_of_them["LivingSessions"] == [3.0]
    lines = [line for line in lines if "status" in line]
    for line in lines:
        (described,) = line["_aws"]["CloudWatchMetrics"]
        assert described["Namespace"] == "SessionStore"
        assert [sorted(dimensions) for dimensions in described["Dimensions"]] == [["service", "status"]]
        assert line["service"] == "session-census"
    told = {line["status"]: line["LivingSessions"] for line in lines}
    assert told == {"initializing": [0.0], "active": [2.0], "closing": [0.0], "closed": [1.0]}


def test_a_run_that_did_not_count_all_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(world, monkeypatch, seconds=1)
    printed = capsys.readouterr().out
    assert "LivingSessions" not in printed
    assert "not all sessions were counted" in printed
