"""The end of a session and what follows it, seen with the keys of a tenant and of the operator alone."""

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
from session_store_client.errors import SessionNotFoundError
from session_store_client.message_calls import append_messages
from session_store_client.session_calls import change_state, create_session, get_session, move_session
from session_store_client.tool_call_calls import record_tool_call

IDLE_SECONDS: Final = 10
PATIENCE: Final = 60.0
CHILDREN: Final = 3
"""Of the session: a message, a call's claim and its record."""


def play_end(access: Access, client: Client, *, tenant: str) -> None:
    """Raises:
    DemoError: something did not follow, or was another than it should be.
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
    title("an operator keeps a credential for the tenant, below the tenant's own prefix")
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
    title(
        f"create a session that ends when it is not used for {IDLE_SECONDS} s, and that names the credential"
    )
    create = create_session(
        idle_timeout=IDLE_SECONDS, state={"goal": "book a trip"}, credential_refs=[reference]
    )
    session_id = step(client, create).session_id
    title("use it: a message, a tool call, a change")
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
    title("what the table has of it (Query, as the operator)")
    keys = _items(operator, session_id)
    expect(len(keys) == 1 + CHILDREN, f"there are the session and its {CHILDREN} children")
    return session_id


def _ended(ear: Ear, session_id: str) -> HeardEvent:
    title(f"leave it alone, and wait for SessionEnded on the event bus: {IDLE_SECONDS} s, then what follows")
    heard = ear.hear_of(session_id, name="SessionEnded", patience=PATIENCE)
    expect(bool(heard), f"SessionEnded comes within {PATIENCE:.0f} s")
    event = heard[0]
    print(f"  {event.name}\n{show_value(event.detail)}")
    return event


def _gone(client: Client, operator: Principal, *, session_id: str) -> None:
    title("the session is gone, and so are its children")
    refused(client, get_session(session_id), SessionNotFoundError)
    expect(_items(operator, session_id) == [], "the table has nothing of the session")


def _audited(operator: Principal, session_id: str, event: HeardEvent) -> Mapping[str, Any]:
    """The facts of the summary."""
    command = ("ops.audit", session_id, "--stage", STAGE)
    title(f"its audit stays: python -m {' '.join(command)}")
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
    title("the last entry is the summary of its end")
    facts: Mapping[str, Any] = last["facts"]
    print(show_value(facts))
    expect(last["eventName"] == "SessionEnded", "the summary is there")
    expect({name: event.detail[name] for name in facts} == facts, "the event told what the summary tells")
    expect(facts["childrenDeleted"] == CHILDREN, f"{CHILDREN} children were erased")
    return facts


def _revoked(access: Access, facts: Mapping[str, Any], *, reference: str, token: str) -> None:
    title("the credential that it named is revoked")
    expect(facts["credentialsRevoked"] == [reference], "the summary tells of the revocation")
    file = access.revocations
    if file is None:
        print("  at the REVOCATION_ENDPOINT that this stack was started with")
        return
    digest = hashlib.sha256(token.encode()).hexdigest()
    print(f"  SHA-256 of the token: {digest}\n  {file.name}:")
    lines = [line for line in file.read_text().splitlines() if json.loads(line)["tokenSha256"] == digest]
    for line in lines:
        print(f"    {line}")
    expect(len(lines) == 1, "the authorization server was asked to revoke the token, once")


def _items(operator: Principal, session_id: str) -> Sequence[str]:
    """The sort keys of all that the table has of a session."""
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
    """What was there and is another now, value by value; of what is all new or all gone, how much it is."""
    kinds = {each["op"] for each in changes}
    if len(changes) > 1 and len(kinds) == 1 and kinds != {"changed"}:
        yield f"{len(changes)} attributes {kinds.pop()}"
        return
    for each in changes:
        old, new = json.dumps(each["old"]), json.dumps(each["new"])
        told = {"added": new, "removed": old, "changed": f"{old} -> {new}"}
        yield f"{each['op']} {each['path']} {told[each['op']]}"
