"""The end of a session and its clean-up, seen only with the keys of a tenant and of the operator."""

import contextlib
import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from infra import names
from local.access import Access, Principal
from local.credentials import OPERATOR
from local.demo.steps import expect, refused, shortened, show_value, step, title
from local.deployment import STAGE
from local.ear import Ear, HeardEvent, listening
from local.emulator import ACCOUNT
from session_store.domain.credential import secret_name
from session_store.schema import Attribute, session_pk
from session_store_client import Client
from session_store_client.child_calls import append_messages, record_tool_call
from session_store_client.errors import SessionNotFoundError
from session_store_client.session_calls import change_state, create_session, get_session, move_session

IDLE_SECONDS: Final = 10
PATIENCE: Final = 60.0
CHILDREN: Final = 3
"""Children of the session: a message, a call's claim and its record."""


def play_end(access: Access, client: Client, *, tenant: str) -> None:
    """Raises:
    DemoError: a step had an unexpected result.
    """
    operator = access.principal(OPERATOR)
    reference, token = f"demo-{secrets.token_hex(4)}/token", secrets.token_hex(16)
    with _secret(operator, tenant, reference, token), listening(operator, bus=names.event_bus(STAGE)) as ear:
        session_id = _live(client, operator, reference=reference)
        event = _ended(ear, session_id)
        _gone(client, operator, session_id=session_id)
        summary = _audited(operator, session_id, event)
        _revoked(access, summary, reference=reference, token=token)


@contextlib.contextmanager
def _secret(operator: Principal, tenant: str, reference: str, token: str) -> Iterator[None]:
    title("an operator stores a credential for the tenant, below the tenant's prefix")
    manager = operator.client("secretsmanager")
    name = secret_name(names.credential_prefix(STAGE), f"{ACCOUNT}:user/{tenant}", reference)
    text = json.dumps({"token": token, "tokenTypeHint": "access_token"})
    manager.create_secret(Name=name, SecretString=text)
    print(f"  secret {name}")
    try:
        yield
    finally:
        manager.delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True)


def _live(client: Client, operator: Principal, *, reference: str) -> str:
    title(f"create a session that names the credential and expires after {IDLE_SECONDS} s without use")
    create = create_session(
        idle_timeout=IDLE_SECONDS, state={"goal": "book a trip"}, credential_refs=[reference]
    )
    session_id = step(client, create).session_id
    title("use it: append a message, record a tool call, change the state")
    step(client, move_session(session_id, "active"))
    step(client, append_messages(session_id, ["A room in Lisbon, please."]))
    call = record_tool_call(
        session_id,
        "call-1",
        tool_name="search_hotels",
        input={"city": "Lisbon"},
        output={"found": 7},
        duration_ms=120,
    )
    step(client, call)
    step(client, change_state(session_id, set={"goal": "book a hotel"}, append={"seen": ["Lisbon"]}))
    title("list its items in the table (Query, as the operator)")
    keys = _items(operator, session_id)
    expect(len(keys) == 1 + CHILDREN, f"the table has the session and its {CHILDREN} children")
    return session_id


def _ended(ear: Ear, session_id: str) -> HeardEvent:
    title(f"wait for SessionEnded on the event bus: {IDLE_SECONDS} s without use, then the clean-up")
    heard = ear.hear_of(session_id, name="SessionEnded", patience=PATIENCE)
    expect(bool(heard), f"SessionEnded comes within {PATIENCE:.0f} s")
    event = heard[0]
    print(f"  {event.name}\n{show_value(event.detail)}")
    return event


def _gone(client: Client, operator: Principal, *, session_id: str) -> None:
    title("the session and its children are gone")
    refused(client, get_session(session_id), SessionNotFoundError)
    expect(_items(operator, session_id) == [], "the table has no items of the session")


def _audited(operator: Principal, session_id: str, event: HeardEvent) -> Mapping[str, Any]:
    """Returns the facts of the summary."""
    command = ("ops.audit", session_id, "--stage", STAGE)
    title(f"its audit trail remains: python -m {' '.join(command)}")
    done = operator.run(*command)
    expect(done.returncode == 0, f"the audit can be read: {done.stderr}")
    entries = [json.loads(line) for line in done.stdout.splitlines()]
    for entry in entries:
        print(f"  {entry['at']} {entry['eventName']}")
        for line in _told(entry["changes"]):
            print(f"    {shortened(line)}")
    goal = {"op": "changed", "path": "/state/goal", "old": "book a trip", "new": "book a hotel"}
    expect(goal in _changes(entries, of="SessionChanged"), "the audit has the change of the goal")
    expect(bool(_changes(entries, of="SessionExpired")), "the audit has the end of the session")
    last = entries[-1]
    title("the last entry is its summary")
    facts: Mapping[str, Any] = last["facts"]
    print(show_value(facts))
    expect(last["eventName"] == "SessionEnded", "the summary is there")
    expect({name: event.detail[name] for name in facts} == facts, "the event has the facts of the summary")
    expect(facts["childrenDeleted"] == CHILDREN, f"{CHILDREN} children were deleted")
    return facts


def _revoked(access: Access, facts: Mapping[str, Any], *, reference: str, token: str) -> None:
    title("its credential is revoked")
    expect(facts["credentialsRevoked"] == [reference], "the summary has the revocation")
    file = access.revocations
    if file is None:
        print("  at the REVOCATION_ENDPOINT of this stack")
        return
    digest = hashlib.sha256(token.encode()).hexdigest()
    print(f"  SHA-256 of the token: {digest}\n  {file.name}:")
    lines = [line for line in file.read_text().splitlines() if json.loads(line)["tokenSha256"] == digest]
    for line in lines:
        print(f"    {line}")
    expect(len(lines) == 1, "the authorization server received one request to revoke the token")


def _items(operator: Principal, session_id: str) -> Sequence[str]:
    """The sort keys of all items of a session."""
    found = operator.client("dynamodb").query(
        TableName=names.session_table(STAGE),
        KeyConditionExpression="#pk = :pk",
        ExpressionAttributeNames={"#pk": Attribute.PK},
        ExpressionAttributeValues={":pk": {"S": session_pk(session_id)}},
        ConsistentRead=True,
    )
    keys = [item[Attribute.SK]["S"] for item in found["Items"]]
    print("\n".join(f"  {key}" for key in keys) or "  nothing")
    return keys


def _changes(entries: Sequence[Mapping[str, Any]], *, of: str) -> Sequence[Mapping[str, Any]]:
    return [change for entry in entries if entry["eventName"] == of for change in entry["changes"]]


def _told(changes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Changed values one by one; of an item that is all new or all gone, only the number of attributes."""
    kinds = {each["op"] for each in changes}
    if len(changes) > 1 and len(kinds) == 1 and kinds != {"changed"}:
        yield f"{len(changes)} attributes {kinds.pop()}"
        return
    for each in changes:
        old, new = json.dumps(each["old"]), json.dumps(each["new"])
        told = {"added": new, "removed": old, "changed": f"{old} -> {new}"}
        yield f"{each['op']} {each['path']} {told[each['op']]}"
