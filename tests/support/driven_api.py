"""The API's function driven through every route, and through each way that a route takes to AWS."""

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from local.emulator import ACCOUNT
from local.signed_http import Answer
from session_store.domain.caller import Permission
from session_store.schema import AuthorizerContext, PayloadEnv
from session_store.services.payloads import INLINE_LIMIT
from tests.support.calls import append, create, create_in, message_id, move, running_call, tool_call
from tests.support.ended import an_end
from tests.support.every_call import every_read, every_write
from tests.support.gateway import rest_event
from tests.support.ground import OWNER, Ground
from tests.support.lambda_context import Context
from tests.support.samples import a_session

MOST_KEYS: Final = 64
PRINCIPAL: Final = f"arn:aws:iam::{ACCOUNT}:user/tenant-a"
VERIFIED: Final[Mapping[str, str]] = {
    AuthorizerContext.TENANT: OWNER.tenant,
    AuthorizerContext.SUBJECT: OWNER.subject,
    AuthorizerContext.PERMISSIONS: " ".join(Permission),
}
"""The same caller, as an authorizer speaks of it where callers show tokens."""


@dataclass(frozen=True, kw_only=True)
class InHand:
    """The API's handler, called as the gateway would call it; ``routes`` are those that were."""

    module: Any
    routes: set[tuple[str, str]]
    keeps_large: bool

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        url = urlsplit(path)
        event = rest_event(
            method,
            url.path,
            body=body,
            headers=headers,
            query=dict(parse_qsl(url.query)),
            principal=PRINCIPAL,
            authorizer=VERIFIED,
        )
        self.routes.add((method, url.path))
        event["requestContext"]["requestId"] = str(uuid.uuid4())
        answer = self.module.handler(event, Context("session-api"))
        fields = {name.lower(): values[-1] for name, values in answer["multiValueHeaders"].items()}
        return Answer(status=answer["statusCode"], headers=fields, body=answer["body"].encode())


def drive_api(module: Any, ground: Ground) -> None:
    api = InHand(module=module, routes=set(), keeps_large=PayloadEnv.PAYLOAD_BUCKET in os.environ)
    session_id = create_in(api, "active")
    early = api.call("PUT", f"/sessions/{session_id}/tool-calls/early", tool_call())
    assert early.status == 201, early
    append(api, session_id, "one")
    writes = every_write(api, session_id)
    # To what another of these writes has made a number.
    assert writes.pop("append").status == 400
    _succeed(writes)
    _succeed({"append": api.call("PATCH", f"/sessions/{session_id}/state", {"append": {"list": [1]}})})
    # Said again, as a retry would: what is there is read and compared.
    twice = {"messages": [{"content": "late", "messageId": message_id()} for _ in range(2)], "atomic": True}
    _succeed({str(n): api.call("POST", f"/sessions/{session_id}/context", twice) for n in (1, 2)})
    again = api.call("PUT", f"/sessions/{session_id}/tool-calls/early", tool_call())
    _run_calls(api, f"/sessions/{session_id}")
    _claim_keys(api)
    _tasks(api, session_id)
    _checkpoints(api, session_id)
    _keyed(api, session_id)
    _large(api, session_id)
    lists = {
        path: api.call("GET", path)
        for path in (
            "/health",
            "/sessions?limit=5",
            "/sessions?status=active",
            f"/sessions/{session_id}/audit",
            "/ops/expiring?withinSeconds=900",
        )
    }
    _succeed({"again": again, **every_read(api, session_id), **lists})
    soon = create(api, {"idleTimeout": 60})["sessionId"]
    _succeed({"drain": api.call("POST", "/ops/drain", {"withinSeconds": 61}), "look": read_of(api, soon)})
    for step in ("closing", "closed"):
        assert move(api, session_id, step).status == 200
    # A closed session takes no message but one that it has.
    _succeed({"replay": api.call("POST", f"/sessions/{session_id}/context", twice)})
    assert api.call("DELETE", f"/sessions/{session_id}").status == 204
    _redrive(api, ground)
    _every_route(api)


def _run_calls(api: InHand, session: str) -> None:
    """One changes its session, one expects it as it is, one fails, of one nobody hears."""
    path = f"{session}/tool-calls"
    fences = {
        call_id: api.call("POST", path, running_call(call_id, attemptId="a")).json["fence"]
        for call_id in ("completes", "expects", "fails", "runs")
    }
    done = {
        "fence": fences["completes"],
        "output": 1,
        "state": {"set": {"by": "call"}},
        "messages": [{"content": 1, "messageId": message_id()}],
    }
    beat = {"fence": fences["runs"], "leaseSeconds": 3600}
    _succeed(
        {
            "complete": api.call("POST", f"{path}/completes/complete", done),
            "again": api.call("POST", f"{path}/completes/complete", done),
        }
    )
    version = api.call("GET", session).json["version"]
    expected = {"fence": fences["expects"], "output": 1, "expectedVersion": version}
    _succeed(
        {
            "expect": api.call("POST", f"{path}/expects/complete", expected),
            "fail": api.call("POST", f"{path}/fails/fail", {"fence": fences["fails"], "error": 1}),
            "heartbeat": api.call("POST", f"{path}/runs/heartbeat", beat),
        }
    )
    assert api.call("POST", f"{path}/runs/reconcile", {"outcome": "retry"}).status == 409


def _claim_keys(api: InHand) -> None:
    """Of a key that is at home here, which one of many is."""
    tries = ((f"/claims/{uuid.uuid4()}", {"input": 1}) for _ in range(MOST_KEYS))
    key, begun = next(
        (path, answer) for path, body in tries if (answer := api.call("PUT", path, body)).status == 201
    )
    fence = begun.json["fence"]
    _succeed({"heartbeat": api.call("POST", f"{key}/heartbeat", {"fence": fence, "leaseSeconds": 90})})
    assert api.call("POST", f"{key}/reconcile", {"outcome": "retry"}).status == 409
    _succeed({"complete": api.call("POST", f"{key}/complete", {"fence": fence, "output": 1})})
    assert api.call("POST", f"{key}/fail", {"fence": fence, "error": 1}).status == 422
    _succeed({"read": api.call("GET", key)})


def _tasks(api: InHand, session_id: str) -> None:
    """One that is done and followed by another, one that is given back, one that is withdrawn."""
    queue = f"queue-{uuid.uuid4()}"
    new = {"queue": queue, "payload": 1, "sessionId": session_id, "deadline": "2100-01-01T00:00:00Z"}
    key = {"Idempotency-Key": uuid.uuid4().hex}
    _succeed({str(n): api.call("POST", "/tasks", new, key if n < 2 else None) for n in range(4)})
    items = api.call("POST", "/tasks/claim", {"queue": queue, "leaseSeconds": 60, "max": 3}).json["items"]
    done, failed, cancelled = items
    ends = {"fence": done["fence"], "result": 1, "next": [{"queue": queue, "payload": 2}]}
    beat = {"fence": done["fence"], "leaseSeconds": 90}
    _succeed(
        {
            "heartbeat": api.call("POST", f"/tasks/{done['taskId']}/heartbeat", beat),
            "complete": api.call("POST", f"/tasks/{done['taskId']}/complete", ends),
            "fail": api.call(
                "POST", f"/tasks/{failed['taskId']}/fail", {"fence": failed["fence"], "error": 1}
            ),
            "cancel": api.call("POST", f"/tasks/{cancelled['taskId']}/cancel"),
            "read": api.call("GET", f"/tasks/{done['taskId']}"),
            **{
                query: api.call("GET", f"/tasks?{query}")
                for query in (f"queue={queue}", f"sessionId={session_id}", "status=completed&kind=task")
            },
            "page": api.call("GET", f"/tasks?queue={queue}&limit=1"),
        }
    )
    # By nobody in particular: who has a name here, differs between the templates. What a decision writes
    # are an item and an event, as the end of a call does.
    path = f"/tasks/{done['taskId']}/decide"
    assert api.call("POST", path, {"decision": "approved"}).status == 403


def read_of(api: InHand, session_id: str) -> Answer:
    return api.call("GET", f"/sessions/{session_id}")


def _checkpoints(api: InHand, session_id: str) -> None:
    """Each way to one, by id and by key, with a parent, and sent again."""
    path = f"/sessions/{session_id}/checkpoints"
    named = {"data": 1, "checkpointId": message_id()}
    child = {"data": 2, "parentId": named["checkpointId"]}
    key = {"Idempotency-Key": uuid.uuid4().hex}
    for number in range(2):
        _succeed(
            {
                f"named {number}": api.call("POST", path, named),
                f"keyed {number}": api.call("POST", path, child, key),
            }
        )
    _succeed({"one": api.call("GET", f"{path}/{named['checkpointId']}")})


def _keyed(api: InHand, session_id: str) -> None:
    """Each write that takes a key, done and sent again."""
    key = {"Idempotency-Key": uuid.uuid4().hex}
    change = {"set": {"keyed": 1}}
    for number in range(2):
        _succeed(
            {
                f"create {number}": api.call("POST", "/sessions", {}, key),
                f"change {number}": api.call("PATCH", f"/sessions/{session_id}/state", change, key),
            }
        )


def _large(api: InHand, session_id: str) -> None:
    """What S3 keeps, put and got; without a bucket it is refused."""
    large = {"messages": [{"content": "x" * (INLINE_LIMIT + 1)}]}
    answer = api.call("POST", f"/sessions/{session_id}/context", large)
    assert answer.status == (201 if api.keeps_large else 413), answer


def _redrive(api: InHand, ground: Ground) -> None:
    """A letter of each queue that can be done, and one that stays."""
    places = ground.places
    records = places.records()
    places.discard(records[:2])
    places.discard(records[2:3])
    places.poison(records[2]["dynamodb"]["SequenceNumber"])
    places.discard_end(an_end(a_session()))
    _succeed({"look": api.call("GET", "/ops/dlq"), "redrive": api.call("POST", "/ops/dlq/redrive", {})})
    places.poison()
    _succeed({"redrive": api.call("POST", "/ops/dlq/redrive", {})})


def _every_route(api: InHand) -> None:
    from infra.api.routes import routes  # noqa: PLC0415 - it reads a file

    def fits(path: str, template: str) -> bool:
        parts = list(zip(path.split("/"), template.split("/"), strict=False))
        same = len(path.split("/")) == len(template.split("/"))
        return same and all(given == wanted or wanted.startswith("{") for given, wanted in parts)

    missing = [
        (route.method, route.path)
        for route in routes()
        if not any(method == route.method and fits(path, route.path) for method, path in api.routes)
    ]
    assert missing == [], f"routes that no drive takes: {missing}"


def _succeed(answers: Mapping[str, Answer]) -> None:
    failed = {name: answer for name, answer in answers.items() if not 200 <= answer.status < 300}
    assert not failed, failed
