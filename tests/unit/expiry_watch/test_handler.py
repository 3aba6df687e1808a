"""The watch's function, as the schedule starts it."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.errors import ConfigurationError, ThrottledError
from session_store.storage.memory.surroundings import MemoryBus
from session_store.storage.memory.tasks import MemoryTasks
from tests.support.functions import load
from tests.support.lambda_context import REQUEST_ID, Context
from tests.support.samples import NOW_MS
from tests.support.task_samples import an_approval
from tests.support.world import World

SCHEDULED = {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}


def test_a_run_announces_counts_and_sets_its_deadline(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = load(monkeypatch, "expiry_watch", EXPIRING_WITHIN_SECONDS="900")
    bus, deadline = MemoryBus(), Deadline()
    watch = replace(module.watch, sessions=world.sessions, clock=world.clock, bus=bus, deadline=deadline)
    monkeypatch.setattr(module, "watch", watch)
    tasks = MemoryTasks(memory=world.memory)
    overdue = replace(
        module.overdue,
        access=replace(module.overdue.access, storage=tasks, clock=world.clock),
        deadline=deadline,
    )
    monkeypatch.setattr(module, "overdue", overdue)
    late = an_approval(deadline_ms=NOW_MS)
    tasks.create(late)
    session = world.open(idle_timeout=600)
    module.handler(SCHEDULED, Context("expiry-watch", seconds=55))
    assert [notice.detail["sessionId"] for notice in bus.notices] == [session.session_id]
    assert world.stored(session.session_id).updated_by.request_id == REQUEST_ID
    assert 50 < deadline.remaining() <= 55
    (metrics,) = (json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line)
    assert (metrics["Warned"], metrics["TasksLapsed"]) == ([1.0], [1.0])
    ended = world.memory.tasks[late.task_id]
    assert (ended.status, ended.author.request_id) == ("expired", REQUEST_ID)


def test_a_run_that_cannot_end_tasks_still_announces_sessions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load(monkeypatch, "expiry_watch", EXPIRING_WITHIN_SECONDS="900")
    bus = MemoryBus()
    watch = replace(module.watch, sessions=world.sessions, clock=world.clock, bus=bus)
    monkeypatch.setattr(module, "watch", watch)

    class Throttled:
        def overdue(self, **_: Any) -> None:
            raise ThrottledError

    throttled = replace(module.overdue.access, storage=Throttled())
    monkeypatch.setattr(module, "overdue", replace(module.overdue, access=throttled))
    world.open(idle_timeout=600)
    with pytest.raises(ThrottledError):
        module.handler(SCHEDULED, Context("expiry-watch", seconds=55))
    assert len(bus.notices) == 1


def test_a_run_that_ran_out_of_time_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = load(monkeypatch, "expiry_watch", EXPIRING_WITHIN_SECONDS="900")
    watch = replace(module.watch, sessions=world.sessions, clock=world.clock, bus=MemoryBus())
    monkeypatch.setattr(module, "watch", watch)
    tasks = MemoryTasks(memory=world.memory)
    monkeypatch.setattr(
        module,
        "overdue",
        replace(
            module.overdue,
            access=replace(module.overdue.access, storage=tasks, clock=world.clock),
            deadline=watch.deadline,
        ),
    )
    tasks.create(an_approval(deadline_ms=NOW_MS))
    world.open(idle_timeout=600)
    module.handler(SCHEDULED, Context("expiry-watch", seconds=1))
    log = capsys.readouterr().out
    assert "not all sessions were announced" in log
    assert "not all overdue tasks were ended" in log


def test_a_wrongly_configured_function_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="EXPIRING_WITHIN_SECONDS"):
        load(monkeypatch, "expiry_watch", EXPIRING_WITHIN_SECONDS="59")
