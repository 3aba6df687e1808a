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
from enum import StrEnum
from typing import Any, Final

import pytest

from session_store import schema
from session_store.domain.credential import secret_name
from session_store.domain.task import TaskStatus
from session_store.schema import CleanupEnv, payload_key
from session_store.storage.integrations.cleanup_queue import message_of
from tests.support.aws_calls import AwsCalls, recording
from tests.support.driven_api import drive_api
from tests.support.ended import an_end, left_behind
from tests.support.ground import OWNER, Ground
from tests.support.issuer import KEY_ID, jwk, rsa_key, token
from tests.support.lambda_context import Context
from tests.support.samples import a_session
from tests.support.task_samples import an_approval

VARIABLES: Final = frozenset(
    str(value)
    for name, variables in vars(schema).items()
    if isinstance(variables, type) and issubclass(variables, StrEnum) and name.endswith("Env")
    for value in variables
)
"""All that the environment of a function may say of ours."""

MOST_KEYS: Final = 64
SERVICE: Final = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}

Drive = Callable[[Any, Ground], None]
"""Of the loaded handler's module, on the ground."""


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
    key = payload_key(session.session_id, "context#message", "sha256")
    ground.emulator.client("s3").put_object(Bucket=ground.payloads, Key=key, Body=b"1")
    end = an_end(session, owner=OWNER, credential_refs=(f"token-{session.session_id}",))
    record = {"messageId": "message", "body": message_of(end), "eventSource": "aws:sqs", "attributes": {}}
    answer = module.handler({"Records": [record]}, Context("expiry-cleanup"))
    assert answer == {"batchItemFailures": []}


def drive_watch(module: Any, ground: Ground) -> None:
    now = int(time.time())
    soon = a_session(ttl=now + 120, max_expires_at=now + 7200, owner=OWNER)
    ground.storage.sessions.create(soon)
    late = an_approval(tenant=OWNER.tenant, deadline_ms=now * 1000)
    ground.storage.tasks.create(late)
    module.handler({}, Context("expiry-watch"))
    kept = ground.storage.tasks.read(late.task_id)
    assert kept is not None
    assert kept.status is TaskStatus.EXPIRED
    warned = ground.storage.sessions.read(soon.session_id)
    assert warned is not None
    assert warned.warned_ttl == soon.ttl


def drive_heartbeat(module: Any, _: Ground) -> None:
    for _run in range(2):
        module.handler({}, Context("heartbeat"))


def drive_census(module: Any, ground: Ground) -> None:
    ground.storage.sessions.create(a_session(ttl=int(time.time()) + 600, owner=OWNER))
    module.handler({}, Context("session-census"))


def drive_authorizer(module: Any, _: Ground) -> None:
    """It uses nothing of AWS: the keys that it fetches are its issuer's."""
    module.keys.fetch = lambda: {KEY_ID: jwk(rsa_key())}
    shown = token(iss=module.settings.issuer, aud=module.settings.audience[0])
    arn = "arn:aws:execute-api:us-east-1:111122223333:abc123/v1/GET/sessions"
    event = {"type": "TOKEN", "authorizationToken": f"Bearer {shown}", "methodArn": arn}
    assert module.handler(event, Context("authorizer"))["context"]["tenant"]


DRIVES: Final[Mapping[str, Drive]] = {
    "session_api": drive_api,
    "authorizer": drive_authorizer,
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
