"""The end of a session and its clean-up, as a tenant and an operator can observe it."""

import contextlib
import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from infra import names
from local.access import Access, Principal
from local.credentials import OPERATOR
from local.demo.steps import as_lines, expect, refused, shortened, step, title
from local.deployment import STAGE
from local.emulator import ACCOUNT
from local.event_listener import BusEvent, EventListener, listening
from session_store.domain.credential import secret_name
from session_store.schema import Attribute, session_pk
from session_store_client import Client
from session_store_client.errors import SessionNotFoundError
from session_store_client.message_calls import append_messages
from session_store_client.session_calls import change_state, create_session, get_session, move_session
from session_store_client.tool_call_calls import record_tool_call

IDLE_SECONDS: Final = 10
MAX_WAIT_SECONDS: Final = 60.0
CHILDREN: Final = 3
"""Child items of the session: a message, a tool call's claim and its record."""


def play_session_end(access: Access, client: Client, *, tenant: str) -> None:
    """Let a session expire, and check its event, clean-up, audit and revocation.

    Raises:
        DemoError: something did not happen, or not as expected.
    """
    operator = access.principal(OPERATOR)
    reference, token = f"demo-{secrets.token_hex(4)}/token", secrets.token_hex(16)
    with (
        _secret(operator, tenant, reference, token),
        listening(operator, bus=names.event_bus(STAGE)) as listener,
    ):
        session_id = _live(client, operator, reference=reference)
        event = _ended(listener, session_id)
        _gone(client, operator, session_id=session_id)
        summary = _audited(operator, session_id, event)
        _revoked(access, summary, reference=reference, token=token)


@contextlib.contextmanager
def _secret(operator: Principal, tenant: str, reference: str, token: str) -> Iterator[None]:
    title("As an operator, store a credential under the tenant's prefix in Secrets Manager")
    manager = operator.client("secretsmanager")
    name = secret_name(names.credential_prefix(STAGE), f"{ACCOUNT}:user/{tenant}", reference)
    text = json.dumps({"token": token, "tokenTypeHint": "access_token"})
    manager.create_secret(Name=name, SecretString=text)
    print(f"       -> secret {name}")
    try:
        yield
    finally:
        manager.delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True)


def _live(client: Client, operator: Principal, *, reference: str) -> str:
    title(f"Create a session that expires after {IDLE_SECONDS} s without use and names the credential")
    create = create_session(
        idle_timeout=IDLE_SECONDS, state={"goal": "book a trip"}, credential_refs=[reference]
    )
    session_id = step(client, create).session_id
    title("Use it: append a message, record a tool call, change the state")
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
    title("As the operator, query the session's items in the table")
    keys = _items(operator, session_id)
    expect(len(keys) == 1 + CHILDREN, f"the table has the session and its {CHILDREN} child items")
    return session_id


def _ended(listener: EventListener, session_id: str) -> BusEvent:
    title(f"Leave it unused for {IDLE_SECONDS} s, and wait for SessionEnded on the event bus")
    events = listener.wait_for_session(session_id, name="SessionEnded", max_wait_seconds=MAX_WAIT_SECONDS)
    expect(bool(events), f"SessionEnded arrives within {MAX_WAIT_SECONDS:.0f} s")
    event = events[0]
    print(f"       -> {event.name}\n{as_lines(event.detail)}")
    return event


def _gone(client: Client, operator: Principal, *, session_id: str) -> None:
    title("The session and its child items are gone")
    refused(client, get_session(session_id), SessionNotFoundError)
    expect(_items(operator, session_id) == [], "the table has no item of the session")


def _audited(operator: Principal, session_id: str, event: BusEvent) -> Mapping[str, Any]:
    """Print the audit and return the facts of its last entry, the summary."""
    command = ("ops.audit", session_id, "--stage", STAGE)
    title(f"Its audit remains: python -m {' '.join(command)}")
    done = operator.run(*command)
    expect(done.returncode == 0, f"the audit can be read: {done.stderr}")
    entries = [json.loads(line) for line in done.stdout.splitlines()]
    for entry in entries:
        print(f"     {entry['at']} {entry['eventName']}")
        for line in _change_lines(entry["changes"]):
            print(f"       {shortened(line)}")
    goal = {"op": "changed", "path": "/state/goal", "old": "book a trip", "new": "book a hotel"}
    expect(goal in _changes(entries, of="SessionChanged"), "the audit has the change of the goal")
    expect(bool(_changes(entries, of="SessionExpired")), "the audit has the end of the session")
    last = entries[-1]
    title("Its last entry is the summary of the clean-up")
    facts: Mapping[str, Any] = last["facts"]
    print(as_lines(facts))
    expect(last["eventName"] == "SessionEnded", "the last entry is the summary")
    expect({name: event.detail[name] for name in facts} == facts, "event and summary have the same facts")
    expect(facts["childrenDeleted"] == CHILDREN, f"{CHILDREN} child items were deleted")
    return facts


def _revoked(access: Access, facts: Mapping[str, Any], *, reference: str, token: str) -> None:
    title("The credential that the session named is revoked")
    expect(facts["credentialsRevoked"] == [reference], "the summary names the revoked credential")
    file = access.revocations
    if file is None:
        print("     at the REVOCATION_ENDPOINT that this stack was started with")
        return
    digest = hashlib.sha256(token.encode()).hexdigest()
    print(f"     SHA-256 of the token: {digest}\n     {file.name}:")
    lines = [line for line in file.read_text().splitlines() if json.loads(line)["tokenSha256"] == digest]
    for line in lines:
        print(f"       {line}")
    expect(len(lines) == 1, "the authorization server was asked once to revoke the token")


def _items(operator: Principal, session_id: str) -> Sequence[str]:
    """Print and return the sort keys of a session's items."""
    answer = operator.client("dynamodb").query(
        TableName=names.session_table(STAGE),
        KeyConditionExpression="#pk = :pk",
        ExpressionAttributeNames={"#pk": Attribute.PK},
        ExpressionAttributeValues={":pk": {"S": session_pk(session_id)}},
        ConsistentRead=True,
    )
    keys = [item[Attribute.SK]["S"] for item in answer["Items"]]
    print("\n".join(f"       -> {key}" for key in keys) or "       -> no items")
    return keys


def _changes(entries: Sequence[Mapping[str, Any]], *, of: str) -> Sequence[Mapping[str, Any]]:
    return [change for entry in entries if entry["eventName"] == of for change in entry["changes"]]


def _change_lines(changes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Format changes one per line; only their number where all were added or all removed."""
    kinds = {each["op"] for each in changes}
    if len(changes) > 1 and len(kinds) == 1 and kinds != {"changed"}:
        yield f"{len(changes)} attributes {kinds.pop()}"
        return
    for each in changes:
        old, new = json.dumps(each["old"]), json.dumps(each["new"])
        values = {"added": new, "removed": old, "changed": f"{old} -> {new}"}
        yield f"{each['op']} {each['path']} {values[each['op']]}"
