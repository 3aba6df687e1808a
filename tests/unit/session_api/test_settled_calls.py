"""Replays of a settled call after its session has ended: begin and record answer alike."""

from typing import Any

import pytest

from tests.support.api import Answer, InProcessApi
from tests.support.samples import DAY
from tests.support.world import World

CALL = {"toolName": "pay", "input": {"n": 1}}
OUTCOME = {"output": 1, "durationMs": 3}
BOTH = pytest.mark.parametrize("way", ["begin", "record"])
EVERY_END = pytest.mark.parametrize("how", ["closing", "closed", "expired", "deleted"])


class Settled:
    """A session with the call ``c1``, settled, and ``c2``, which runs; then ended."""

    def __init__(self, world: World, how: str) -> None:
        self.api = InProcessApi(world)
        self.id = self.api.open()
        self.call("POST", "/status", {"to": "active"})
        assert self.ask("record").status == 201
        assert self.ask("begin", "c2").status == 201
        self.is_gone = how in ("expired", "deleted")
        if how == "deleted":
            assert self.call("DELETE", "").status == 204
        elif how == "expired":
            world.clock.pass_(DAY)
        else:
            for step in ("closing", "closed")[: 1 if how == "closing" else 2]:
                assert self.call("POST", "/status", {"to": step}).status == 200

    def call(self, method: str, path: str, body: object = None, **rest: Any) -> Answer:
        return self.api.call(method, f"/sessions/{self.id}{path}", body, **rest)

    def ask(self, way: str, call_id: str = "c1", *, subject: str = "alice", **changes: Any) -> Answer:
        if way == "begin":
            body = {"toolCallId": call_id, **CALL, **changes}
            return self.call("POST", "/tool-calls", body, subject=subject)
        return self.call("PUT", f"/tool-calls/{call_id}", {**CALL, **OUTCOME, **changes}, subject=subject)

    @property
    def ended(self) -> str:
        return "session-not-found" if self.is_gone else "session-closed"


@EVERY_END
@BOTH
def test_the_very_same_call_is_answered_by_its_record(world: World, how: str, way: str) -> None:
    again = Settled(world, how).ask(way)
    assert (again.status, again.json["output"]) == (200, 1)


@EVERY_END
@BOTH
@pytest.mark.parametrize("change", [{"input": {"n": 2}}, {"toolName": "other"}])
def test_another_call_under_its_id_is_a_mismatch_while_the_session_is_there(
    world: World, how: str, way: str, change: dict[str, Any]
) -> None:
    settled = Settled(world, how)
    other = settled.ask(way, **change)
    expected = (404, "session-not-found") if settled.is_gone else (422, "idempotency-mismatch")
    assert (other.status, other.slug) == expected


@EVERY_END
def test_another_outcome_under_its_id_is_a_mismatch_while_the_session_is_there(
    world: World, how: str
) -> None:
    settled = Settled(world, how)
    other = settled.ask("record", output=2)
    expected = (404, "session-not-found") if settled.is_gone else (422, "idempotency-mismatch")
    assert (other.status, other.slug) == expected


@EVERY_END
@BOTH
@pytest.mark.parametrize("call_id", ["c2", "c3"])
@pytest.mark.parametrize("change", [{}, {"input": {"n": 2}}])
def test_a_call_that_is_not_settled_is_answered_as_its_session(
    world: World, how: str, way: str, call_id: str, change: dict[str, Any]
) -> None:
    settled = Settled(world, how)
    assert settled.ask(way, call_id, **change).slug == settled.ended


@EVERY_END
@BOTH
@pytest.mark.parametrize("change", [{}, {"input": {"n": 2}}])
def test_to_another_caller_there_is_no_such_session(
    world: World, how: str, way: str, change: dict[str, Any]
) -> None:
    asked = Settled(world, how).ask(way, subject="bob", **change)
    assert (asked.status, asked.slug) == (404, "session-not-found")
