"""A session over the API, and the tool calls that are run in it."""

from typing import Any, Final

from session_store.domain.claim import LEASE_SKEW_MARGIN_MS
from tests.support.api import Answer, InProcessApi

LEASE: Final = 60
OVER: Final = LEASE + LEASE_SKEW_MARGIN_MS / 1000
"""Seconds after which a lease is over by every clock."""

INPUT: Final = {"q": "x", "n": 0.1, "big": 9007199254740993}


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
