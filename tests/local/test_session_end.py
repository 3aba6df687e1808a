"""The end of a session under ``make run``, observed with the keys and URLs in its state."""

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from infra import names
from local.access import API_URL, AUTH_URL, Access, Principal
from local.credentials import OPERATOR
from local.deployment import STAGE
from local.emulator import ACCOUNT
from local.event_listener import BusEvent, listening
from local.signed_http import Api
from session_store.domain.credential import secret_name
from tests.support.calls import append, create, tool_call
from tests.support.local_run import local_run, said

PATIENCE: Final = 240.0
REFERENCE: Final = "github/token"
TOKEN: Final = "the token of an ended session"
TENANT: Final = "tenant-a"
CHILDREN: Final = 4
"""Two messages, a call's claim and its record."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ended:
    """An expired session, with its items and its event."""

    access: Access
    session_id: str
    before: Sequence[Mapping[str, Any]]
    """Its items before it expired."""

    event: BusEvent


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def access(state: Path) -> Iterator[Access]:
    with local_run(state) as access:
        yield access
    assert not (state / API_URL).exists()
    assert not (state / AUTH_URL).exists()


@pytest.fixture(scope="module")
def operator(access: Access) -> Principal:
    return access.principal(OPERATOR)


@pytest.fixture(scope="module")
def ended(access: Access, operator: Principal) -> Ended:
    name = secret_name(names.credential_prefix(STAGE), f"{ACCOUNT}:user/{TENANT}", REFERENCE)
    secret = json.dumps({"token": TOKEN, "tokenTypeHint": "refresh_token"})
    operator.client("secretsmanager").create_secret(Name=name, SecretString=secret)
    with listening(operator, bus=names.event_bus(STAGE)) as listener:
        session_id = live(access.api(TENANT))
        before = items(operator, session_id)
        heard = listener.wait_for_session(session_id, name="SessionEnded", max_wait_seconds=PATIENCE)
    assert heard, said(access.state)
    return Ended(access=access, session_id=session_id, before=before, event=heard[0])


def live(api: Api) -> str:
    session = create(api, {"idleTimeout": 10, "state": {"step": 1}, "credentialRefs": [REFERENCE]})
    session_id: str = session["sessionId"]
    path = f"/sessions/{session_id}"
    assert api.call("POST", f"{path}/status", {"to": "active"}).status == 200
    append(api, session_id, "one", "two")
    assert api.call("PUT", f"{path}/tool-calls/c1", tool_call()).status == 201
    changes = {"set": {"city": "Lisbon"}, "increment": {"step": 1}}
    assert api.call("PATCH", f"{path}/state", changes).status == 200
    return session_id


def items(operator: Principal, session_id: str) -> Sequence[Mapping[str, Any]]:
    found = operator.client("dynamodb").query(
        TableName=names.session_table(STAGE),
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": f"session#{session_id}"}},
        ConsistentRead=True,
    )
    listed: Sequence[Mapping[str, Any]] = found["Items"]
    return listed


def audit(operator: Principal, session_id: str) -> list[dict[str, Any]]:
    done = operator.run("ops.audit", session_id, "--stage", STAGE)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_its_children_are_gone_with_it(ended: Ended, operator: Principal) -> None:
    assert len(ended.before) == 1 + CHILDREN
    assert items(operator, ended.session_id) == []
    assert ended.access.api(TENANT).call("GET", f"/sessions/{ended.session_id}").status == 404


def test_the_event_describes_the_end(ended: Ended) -> None:
    detail = ended.event.detail
    assert (detail["reason"], detail["tenant"]) == ("expired", f"{ACCOUNT}:user/{TENANT}")
    assert detail["childrenDeleted"] == CHILDREN
    assert (detail["credentialsRevoked"], detail["credentialsFailed"]) == ([REFERENCE], [])


def is_kept(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry changed a session without a new version."""
    paths = {change["path"] for change in entry["changes"]}
    return entry["eventName"] == "SessionChanged" and "/version" not in paths


def test_the_audit_has_each_change_with_its_differences(ended: Ended, operator: Principal) -> None:
    entries = audit(operator, ended.session_id)
    # A slow machine lets the window slide, and the watch marks what ends soon: neither is a version.
    assert [entry["eventName"] for entry in entries if entry["kind"] == "change" and not is_kept(entry)] == [
        "SessionCreated",
        "SessionChanged",
        "MessageCreated",
        "MessageCreated",
        "ToolClaimCreated",
        "ToolRecordCreated",
        "SessionChanged",
        "SessionExpired",
    ]
    told = [
        (change["op"], change["path"], change["old"], change["new"])
        for entry in entries
        if entry["eventName"] == "SessionChanged"
        for change in entry["changes"]
        if change["path"].startswith(("/state/", "/status"))
    ]
    assert told == [
        ("changed", "/status", "initializing", "active"),
        ("added", "/state/city", None, "Lisbon"),
        ("changed", "/state/step", 1, 2),
    ]


def test_the_last_of_the_audit_is_the_summary_of_its_end(ended: Ended, operator: Principal) -> None:
    summary = audit(operator, ended.session_id)[-1]
    assert (summary["eventName"], summary["actor"]) == ("SessionEnded", "session-store expiry-cleanup")
    assert {name: ended.event.detail[name] for name in summary["facts"]} == summary["facts"]


def test_its_credential_is_revoked_at_the_stacks_own_server_and_kept_nowhere(ended: Ended) -> None:
    file = ended.access.revocations
    assert file is not None
    (line,) = file.read_text().splitlines()
    revocation = json.loads(line)
    assert revocation["tokenSha256"] == hashlib.sha256(TOKEN.encode()).hexdigest()
    assert revocation["tokenTypeHint"] == "refresh_token"
    assert TOKEN not in line + said(ended.access.state)
    assert "revoked a token: refresh_token" in said(ended.access.state)


def test_dead_letters_can_be_looked_at_with_the_operators_key(operator: Principal) -> None:
    done = operator.run("ops.dead_letters", "look", "--stage", STAGE)
    assert (done.returncode, done.stderr) == (0, "")
    assert [queue["depth"] for queue in json.loads(done.stdout)["queues"]] == [0, 0]
    redriven = operator.run("ops.dead_letters", "redrive", "--stage", STAGE)
    assert (redriven.returncode, redriven.stderr) == (0, "")
