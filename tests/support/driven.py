"""Each function driven through all that it does: its handler in this process, on places in the emulator.

``DRIVES`` has a drive for every function of the template. One that leaves out a use of AWS makes the
grant for it look superfluous.
"""

import importlib
import json
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import pytest

from infra.api.function import STREAMS_URL
from local.emulator import ACCOUNT, Emulator
from local.signed_http import Answer
from session_store import schema
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.credential import secret_name
from session_store.domain.session import Owner
from session_store.ports import Storage
from session_store.schema import BusEnv, CleanupEnv, Env, RedriveEnv, StreamEnv
from session_store.storage.cleanup_queue import message_of
from tests.support.aws_calls import AwsCalls, recording
from tests.support.calls import append, create, create_in, message_id, move, tool_call
from tests.support.ended import an_end, left_behind
from tests.support.every_call import every_read, every_write
from tests.support.gateway import rest_event
from tests.support.lambda_context import Context
from tests.support.redrive import Places
from tests.support.revocation import AuthorizationServer
from tests.support.samples import a_session, settings

PRINCIPAL: Final = f"arn:aws:iam::{ACCOUNT}:user/tenant-a"
OWNER: Final = Owner(tenant=f"{ACCOUNT}:user/tenant-a", subject="-")
VARIABLES: Final = frozenset(
    str(value)
    for name, variables in vars(schema).items()
    if isinstance(variables, type) and issubclass(variables, StrEnum) and name.endswith("Env")
    for value in variables
)
"""All that the environment of a function may say of ours."""

SERVICE: Final = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Where the functions are driven: what their environment names, in the emulator."""

    places: Places
    bus: str
    server: AuthorizationServer

    @property
    def emulator(self) -> Emulator:
        return self.places.emulator

    @property
    def storage(self) -> Storage:
        """Through a client that nobody records."""
        tables = settings(table=self.places.table, audit_table=self.places.audit_table)
        return dynamodb_storage(tables, self.emulator.client("dynamodb"), Deadline())

    @property
    def stands_for(self) -> Mapping[str, str]:
        """What a variable has here for what the template has there, by its name."""
        return {
            Env.TABLE_NAME: self.places.table,
            Env.AUDIT_TABLE_NAME: self.places.audit_table,
            BusEnv.EVENT_BUS_NAME: self.bus,
            StreamEnv.CLEANUP_QUEUE_URL: self.places.urls["again"],
            StreamEnv.QUARANTINE_BUCKET: self.places.table,
            RedriveEnv.STREAM_DEAD_LETTERS_URL: self.places.urls["stream"],
            RedriveEnv.CLEANUP_DEAD_LETTERS_URL: self.places.urls["cleanup"],
            RedriveEnv.CONSUMER_FUNCTION: self.places.table,
            CleanupEnv.REVOCATION_ENDPOINT: self.server.url,
            STREAMS_URL: self.emulator.endpoint,
        }

    def environment(self, template: Mapping[str, str]) -> dict[str, str]:
        here = {name: self.stands_for.get(name, value) for name, value in template.items()}
        unknown = {name: value for name, value in here.items() if "<" in value}
        assert not unknown, f"what stands in the emulator for {unknown}? {__name__}.Ground.stands_for"
        return {**here, **self.emulator.environment, "POWERTOOLS_TRACE_DISABLED": "true"}


@dataclass(frozen=True, kw_only=True)
class InHand:
    """The API's handler, called as the gateway would call it; ``routes`` are those that were."""

    module: Any
    routes: set[tuple[str, str]]

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
        )
        self.routes.add((method, url.path))
        event["requestContext"]["requestId"] = str(uuid.uuid4())
        answer = self.module.handler(event, Context("session-api"))
        fields = {name.lower(): values[-1] for name, values in answer["multiValueHeaders"].items()}
        return Answer(status=answer["statusCode"], headers=fields, body=answer["body"].encode())


Drive = Callable[[Any, Ground], None]
"""Of the loaded handler's module, on the ground."""


def drive_api(module: Any, ground: Ground) -> None:
    api = InHand(module=module, routes=set())
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


def read_of(api: InHand, session_id: str) -> Answer:
    return api.call("GET", f"/sessions/{session_id}")


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


def drive_consumer(module: Any, ground: Ground) -> None:
    storage = ground.storage
    session = a_session()
    storage.sessions.create(session)
    records = [json.loads(json.dumps(record)) for record in ground.places.records()]
    expired = {**records[-1], "eventName": "REMOVE", "userIdentity": SERVICE}
    change = dict(expired["dynamodb"])
    change["OldImage"] = change.pop("NewImage")
    strange = {**records[-1], "eventName": "UPSERT"}
    answer = module.handler(
        {"Records": [*records, {**expired, "dynamodb": change}, strange]}, Context("audit-consumer")
    )
    assert answer == {"batchItemFailures": []}


def drive_cleanup(module: Any, ground: Ground) -> None:
    session = left_behind(ground.storage, messages=3, calls=1)
    prefix = module.cleanup.revocations.prefix
    name = secret_name(prefix, OWNER.tenant, f"token-{session.session_id}")
    secret = json.dumps({"token": "the token"})
    ground.emulator.client("secretsmanager").create_secret(Name=name, SecretString=secret)
    end = an_end(session, owner=OWNER, credential_refs=(f"token-{session.session_id}",))
    record = {"messageId": "message", "body": message_of(end), "eventSource": "aws:sqs", "attributes": {}}
    answer = module.handler({"Records": [record]}, Context("expiry-cleanup"))
    assert answer == {"batchItemFailures": []}


def drive_watch(module: Any, ground: Ground) -> None:
    now = int(time.time())
    soon = a_session(ttl=now + 120, max_expires_at=now + 7200, owner=OWNER)
    ground.storage.sessions.create(soon)
    module.handler({}, Context("expiry-watch"))
    warned = ground.storage.sessions.read(soon.session_id)
    assert warned is not None
    assert warned.warned_ttl == soon.ttl


def drive_heartbeat(module: Any, _: Ground) -> None:
    for _run in range(2):
        module.handler({}, Context("heartbeat"))


def drive_census(module: Any, ground: Ground) -> None:
    ground.storage.sessions.create(a_session(ttl=int(time.time()) + 600, owner=OWNER))
    module.handler({}, Context("session-census"))


def _succeed(answers: Mapping[str, Answer]) -> None:
    failed = {name: answer for name, answer in answers.items() if not 200 <= answer.status < 300}
    assert not failed, failed


DRIVES: Final[Mapping[str, Drive]] = {
    "session_api": drive_api,
    "audit_consumer": drive_consumer,
    "expiry_cleanup": drive_cleanup,
    "expiry_watch": drive_watch,
    "heartbeat": drive_heartbeat,
    "session_census": drive_census,
}


@contextmanager
def loaded(package: str, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The handler's module as a new process would import it, told this and nothing else of ours."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    module = f"{package}.handler"
    sys.modules.pop(module, None)
    yield importlib.import_module(module)
    sys.modules.pop(module, None)


def driven(
    package: str, environment: Mapping[str, str], ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> AwsCalls:
    """What the function asked of AWS as it did all that it does; ``environment`` is the template's."""
    drive = DRIVES.get(package)
    assert drive is not None, f"{package} has no drive: write one, and list it in {__name__}.DRIVES"
    here = {
        **ground.environment(environment),
        "POWERTOOLS_SERVICE_NAME": f"{package}-{uuid.uuid4()}",
    }
    if {CleanupEnv.REVOCATION_ENDPOINT, CleanupEnv.REVOCATION_ON_LOOPBACK} & environment.keys():
        here[CleanupEnv.REVOCATION_ON_LOOPBACK] = "true"
        here[CleanupEnv.REVOCATION_ENDPOINT] = ground.server.url
    with recording(monkeypatch) as calls:
        # The emulator is one server: what it does not give at once is not there.
        calls.events.register("provide-client-params.sqs.ReceiveMessage", _without_waiting)
        with loaded(package, here, monkeypatch) as module:
            drive(module, ground)
    return calls


def _without_waiting(params: dict[str, Any], **_: Any) -> None:
    params["WaitTimeSeconds"] = 0
