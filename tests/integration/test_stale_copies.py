"""Where a copy of a session is stale, nothing is decided by it: whoever decides reads consistently."""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from session_store.ports import Storage
from session_store.schema import SESSION_SK, Attribute
from session_store.settings import Settings
from session_store.store import store_on
from tests.support.api import Answer, StoreApi
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

READS: Final = ("", "/context", "/tool-calls", "/tool-calls/c1", "/history", "/recovery", "/audit")


class Cache:
    """Answers what it has seen to every read that does not ask to be consistent, for ever."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self.items: dict[str, Any] = {}
        self.answered = 0
        client.meta.events.register("before-call.dynamodb.GetItem", self._answer)
        client.meta.events.register("after-call.dynamodb.GetItem", self._learn)

    def _learn(self, parsed: dict[str, Any], **_: Any) -> None:
        item = parsed.get("Item", {})
        if item.get(Attribute.SK) == {"S": SESSION_SK}:
            self.items.setdefault(json.dumps(item[Attribute.PK]), item)

    def _answer(self, params: dict[str, Any], **_: Any) -> Any:
        asked = json.loads(params["body"])
        held = self.items.get(json.dumps(asked["Key"][Attribute.PK]))
        if asked.get("ConsistentRead") or held is None:
            return None
        self.answered += 1
        return AWSResponse("", HTTPStatus.OK, HTTPHeaders(), None), {"Item": held, "ResponseMetadata": {}}


@pytest.fixture
def api(on_dynamodb: Storage, tables: Settings) -> StoreApi:
    return StoreApi(store_on(on_dynamodb, tables, clock=SettableClock()))


def opened(api: StoreApi) -> str:
    session_id = api.open(state={"n": 1})
    assert api.call("POST", f"/sessions/{session_id}/status", {"to": "active"}).status == 200
    assert api.call("GET", f"/sessions/{session_id}").status == 200
    return session_id


def every_call(api: StoreApi, session_id: str) -> dict[str, Answer]:
    path = f"/sessions/{session_id}"
    writes: dict[tuple[str, str], object] = {
        ("PATCH", "/state"): {"increment": {"n": 1}},
        ("POST", "/status"): {"to": "closing"},
        ("POST", "/touch"): None,
        ("POST", "/context"): {"messages": [{"content": 1}]},
        ("POST", "/tool-calls"): {"toolCallId": "c1", "toolName": "t", "input": 1},
        ("PUT", "/tool-calls/c2"): {"toolName": "t", "input": 1, "durationMs": 1},
        ("POST", "/tool-calls/c1/complete"): {"fence": 1, "output": 1},
        ("POST", "/tool-calls/c1/heartbeat"): {"fence": 1, "leaseSeconds": 9},
        ("POST", "/tool-calls/c1/reconcile"): {"outcome": "retry"},
        ("DELETE", ""): None,
    }
    sent = {
        f"{method} {rest}": api.call(method, path + rest, body) for (method, rest), body in writes.items()
    }
    return {**sent, **{f"GET {rest}": api.call("GET", path + rest) for rest in READS}}


def test_a_session_that_is_deleted_is_gone_whatever_a_cache_still_holds(
    api: StoreApi, dynamodb: "DynamoDBClient"
) -> None:
    cache = Cache(dynamodb)
    session_id = opened(api)
    assert api.call("DELETE", f"/sessions/{session_id}").status == 204
    assert cache.items
    answers = every_call(api, session_id)
    assert {name: answer.status for name, answer in answers.items()} == dict.fromkeys(answers, 404)
    assert cache.answered == 0


@pytest.mark.parametrize(
    ("subject", "expected"), [("alice", 409), ("bob", 404)], ids=["its status", "its owner"]
)
def test_status_version_and_owner_are_those_of_now(
    api: StoreApi, dynamodb: "DynamoDBClient", subject: str, expected: int
) -> None:
    Cache(dynamodb)
    session_id = opened(api)
    path = f"/sessions/{session_id}"
    move: Callable[[str], Answer] = lambda to: api.call("POST", f"{path}/status", {"to": to})  # noqa: E731 - short
    for step in ("closing", "closed"):
        version = move(step).json["version"]
    begin = {"toolCallId": "c1", "toolName": "t", "input": 1}
    for route, body in (("/tool-calls", begin), ("/context", {"messages": [{"content": 1}]})):
        assert api.call("POST", path + route, body, subject=subject).status == expected
    if subject == "alice":
        assert api.call("GET", path).json["version"] == version
