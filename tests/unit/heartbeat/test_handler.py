"""The heartbeat's function, as the schedule starts it."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.errors import ThrottledError
from session_store.storage.memory.heartbeats import MemoryHeartbeats
from session_store.storage.memory.state import Memory
from tests.support.functions import load
from tests.support.lambda_context import REQUEST_ID, Context
from tests.support.samples import REGION
from tests.support.world import World

SCHEDULED = {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}


def test_a_run_writes_a_heartbeat_counts_and_sets_its_deadline(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = load(monkeypatch, "heartbeat")
    memory, deadline = Memory(), Deadline()
    beating = MemoryHeartbeats(memory=memory)
    heart = replace(module.heart, heartbeats=beating, clock=world.clock, deadline=deadline)
    monkeypatch.setattr(module, "heart", heart)
    module.handler(SCHEDULED, Context("heartbeat", seconds=15))
    world.clock.pass_(60)
    module.handler(SCHEDULED, Context("heartbeat", seconds=15))
    assert memory.heartbeats[REGION].author.request_id == REQUEST_ID
    assert 10 < deadline.remaining() <= 15
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["Heartbeats"] for line in lines if "Heartbeats" in line] == [[1.0], [1.0]]


def test_a_refused_heartbeat_fails_the_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Throttled:
        def beat(self, _: Any) -> None:
            raise ThrottledError

    module = load(monkeypatch, "heartbeat")
    monkeypatch.setattr(module, "heart", replace(module.heart, heartbeats=Throttled()))
    with pytest.raises(ThrottledError), pytest.warns(UserWarning, match="No application metrics"):
        module.handler(SCHEDULED, Context("heartbeat"))
