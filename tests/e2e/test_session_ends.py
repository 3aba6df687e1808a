"""What follows the end of a session, by the deployed functions under their own roles."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from local.emulator import ACCOUNT
from local.event_listener import EventListener, listening
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.credential import secret_name
from session_store.domain.session import Owner, Status
from session_store.ports import Storage
from session_store.storage.integrations.cleanup_queue import message_of
from tests.support.delivery import eventually
from tests.support.emulator import LiveStack
from tests.support.ended import an_end, left_behind, summaries
from tests.support.revocation import AuthorizationServer, authorization_server
from tests.support.samples import a_session, settings

PREFIX = "session-store/local"
OWNER = Owner(tenant=f"{ACCOUNT}:user/tenant-a", subject="-")


@pytest.fixture(scope="module")
def server() -> Iterator[AuthorizationServer]:
    with authorization_server() as state:
        yield state


@pytest.fixture(scope="module")
def stack(deployed: LiveStack, server: AuthorizationServer) -> LiveStack:
    """The deployed stack, told where the authorization server of this test is."""
    deployed.configure("expiry_cleanup", REVOCATION_ENDPOINT=server.url)
    return deployed


@pytest.fixture(scope="module")
def storage(stack: LiveStack) -> Storage:
    tables = settings(table=stack.deployed.table_name, audit_table=stack.deployed.audit_table_name)
    return dynamodb_storage(tables, stack.emulator.client("dynamodb"), Deadline())


@pytest.fixture
def listener(stack: LiveStack) -> Iterator[EventListener]:
    with listening(stack.emulator, bus=stack.deployed.event_bus_name) as listener:
        yield listener


def test_a_message_in_the_queue_is_a_session_cleaned_up(
    stack: LiveStack, storage: Storage, server: AuthorizationServer, listener: EventListener
) -> None:
    session = left_behind(storage, messages=30, calls=2)
    end = an_end(session, owner=OWNER, credential_refs=("github/token", "none"))
    secret = json.dumps({"token": "the token", "tokenTypeHint": "refresh_token"})
    name = secret_name(PREFIX, OWNER.tenant, "github/token")
    stack.emulator.client("secretsmanager").create_secret(Name=name, SecretString=secret)
    sqs = stack.emulator.client("sqs")
    sqs.send_message(QueueUrl=stack.deployed.cleanup_queue_url, MessageBody=message_of(end))
    (event,) = listener.wait_for_session(session.session_id)
    assert (event.name, event.detail["childrenDeleted"]) == ("SessionEnded", 34)
    assert event.detail["credentialsRevoked"] == ["github/token"]
    assert event.detail["credentialsFailed"] == [{"reference": "none", "reason": "no such secret"}]
    assert storage.children.first(session.session_id, limit=10) == []
    assert len(summaries(storage, session)) == 1
    assert server.revoked == ["the token"]

    def is_taken() -> bool:
        counts = sqs.get_queue_attributes(QueueUrl=stack.deployed.cleanup_queue_url, AttributeNames=["All"])
        return int(counts["Attributes"]["ApproximateNumberOfMessagesNotVisible"]) == 0

    assert eventually(is_taken)


def test_a_message_about_a_session_that_is_there_stays_in_the_queue(
    stack: LiveStack, storage: Storage
) -> None:
    session = a_session(owner=OWNER, ttl=int(time.time()) + 7200)
    storage.sessions.create(session)
    invoked = invoke(stack, "expiry_cleanup", sqs_event(message_of(an_end(session))))
    assert invoked == {"batchItemFailures": [{"itemIdentifier": "message"}]}
    assert storage.sessions.read(session.session_id) == session


def sqs_event(body: str) -> dict[str, Any]:
    record = {"messageId": "message", "body": body, "eventSource": "aws:sqs", "attributes": {}}
    return {"Records": [record]}


def invoke(stack: LiveStack, package: str, event: object) -> Any:
    name = stack.function(package)
    answer = stack.emulator.client("lambda").invoke(FunctionName=name, Payload=json.dumps(event))
    assert "FunctionError" not in answer, answer["Payload"].read()
    return json.loads(answer["Payload"].read() or "null")


def test_the_watch_announces_a_session_that_ends_soon_and_marks_its_end(
    stack: LiveStack, storage: Storage, listener: EventListener
) -> None:
    session_id = stack.api("tenant-a").call("POST", "/sessions", {"idleTimeout": 600}).json["sessionId"]
    for _ in range(2):
        invoke(stack, "expiry_watch", {})
    # Its schedule also runs it every minute: two runs at once may both announce, under one event id.
    announced = {(event.name, event.detail["eventId"]) for event in listener.wait_for_session(session_id)}
    assert [name for name, _ in announced] == ["SessionExpiringSoon"]
    session = storage.sessions.read(session_id)
    assert session is not None
    assert (session.warned_ttl, session.version) == (session.ttl, 1)


def test_an_operator_drains_what_ends_soon(stack: LiveStack, storage: Storage) -> None:
    api = stack.api("tenant-a")
    session_id = api.call("POST", "/sessions", {"idleTimeout": 300}).json["sessionId"]
    answer = api.call("POST", "/ops/drain", {"withinSeconds": 301})
    assert answer.status == 200
    assert answer.json["moved"] >= 1
    session = storage.sessions.read(session_id)
    assert session is not None
    assert session.status is Status.CLOSING
