"""What happened to a session, as its owner reads it, once the stream has told of it."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import pytest

from local.credentials import REGION
from local.emulator import ACCOUNT
from local.event_listener import BusEvent, EventListener, listening
from session_store.domain.credential import secret_name
from session_store.domain.differences import Difference, Operation
from session_store.domain.json_values import JsonValue, canonical, digest
from session_store.schema import Attribute, PayloadEnv, payload_prefix
from session_store.storage.dynamodb.audit_items import audit_entry_from
from tests.support.calls import (
    Acting,
    append,
    assert_problem,
    create,
    create_in,
    items,
    move,
    new_subject,
    pages,
    tool_call,
)
from tests.support.delivery import delivered, eventually
from tests.support.emulator import LiveStack
from tests.support.raw_table import Item, RawTable
from tests.support.revocation import authorization_server

TENANT: Final = f"{ACCOUNT}:user/tenant-a"
EXPIRY: Final = "dynamodb.amazonaws.com"
CREDENTIAL_PREFIX: Final = "session-store/local"
CLEAN_UP: Final = "session-store expiry-cleanup"
REQUEST_ID: Final = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
EVERY_WRITE: Final = frozenset({"/lastWrite", "/updatedAt", "/updatedBy/requestId", "/version"})
"""Paths that each write of a session's metadata changes."""


@pytest.fixture(scope="module", autouse=True)
def stack(deployed: LiveStack) -> Iterator[LiveStack]:
    """For this module alone: other modules look at expired items, which would be swept from under them."""
    with delivered(deployed) as running:
        yield running


@pytest.fixture
def listener(stack: LiveStack) -> Iterator[EventListener]:
    with listening(stack.emulator, bus=stack.deployed.event_bus_name) as listener:
        yield listener


def trail(api: Acting, session_id: str, *, count: int) -> list[dict[str, Any]]:
    """All entries of a session, once there are ``count``."""
    path = f"/sessions/{session_id}/audit?limit=100"
    assert eventually(lambda: len(items(api, path)) >= count), items(api, path)
    return items(api, path)


def rows(raw_audit: RawTable, session_id: str, *, last: str) -> dict[str, Item]:
    """All rows of a session by their event's name, once ``last`` is there."""

    def found() -> dict[str, Item]:
        return {row[Attribute.EVENT_NAME]["S"]: row for row in raw_audit.partition(session_id)}

    assert eventually(lambda: last in found()), sorted(found())
    return found()


def names(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["eventName"] for entry in entries]


def changes(entry: dict[str, Any]) -> dict[str, tuple[str, Any, Any]]:
    return {each["path"]: (each["op"], each["old"], each["new"]) for each in entry["changes"]}


def told(value: JsonValue) -> dict[str, Any]:
    """How the trail tells of a value that it does not show."""
    return {"bytes": len(canonical(value)), "sha256": digest(value)}


def test_each_change_of_a_session_is_told_once_and_in_order(api: Acting) -> None:
    session_id = create(api, {"state": {"a": {"b": 1}}})["sessionId"]
    secret = "s" * 2000
    patch = {"set": {"n": 1, "long": secret}, "remove": ["a"]}
    assert api.call("PATCH", f"/sessions/{session_id}/state", patch).status == 200
    assert move(api, session_id, "active").status == 200
    assert api.call("POST", f"/sessions/{session_id}/touch").status == 200
    created, changed, moved = trail(api, session_id, count=3)
    assert names([created, changed, moved]) == ["SessionCreated", "SessionChanged", "SessionChanged"]
    assert {op for op, _, _ in changes(created).values()} == {"added"}
    assert changes(created)["/state"] == ("added", None, {"a": {"b": 1}})
    assert changes(created)["/status"] == ("added", None, "initializing")
    assert changes(changed).keys() - EVERY_WRITE == {"/state/a", "/state/n", "/state/long"}
    assert changes(changed)["/state/a"] == ("removed", {"b": 1}, None)
    assert changes(changed)["/state/n"] == ("added", None, 1)
    assert changes(changed)["/state/long"] == ("added", None, told(secret))
    assert changes(changed)["/version"] == ("changed", 1, 2)
    assert changes(moved).keys() - EVERY_WRITE - {"/ttl", "/slideAfter"} == {"/status"}
    assert changes(moved)["/status"] == ("changed", "initializing", "active")
    assert changes(moved)["/version"] == ("changed", 2, 3)
    numbers = [int(entry["sequenceNumber"]) for entry in (created, changed, moved)]
    assert numbers == sorted(set(numbers))


def test_a_burst_of_writes_is_told_one_by_one(api: Acting) -> None:
    session_id = create_in(api, "initializing")
    for number in range(40):
        answer = api.call("PATCH", f"/sessions/{session_id}/state", {"set": {"n": number}})
        assert answer.status == 200
    entries = trail(api, session_id, count=41)
    assert [changes(entry)["/version"][2] for entry in entries] == list(range(1, 42))
    assert [changes(entry)["/state/n"][2] for entry in entries[1:]] == list(range(40))


def test_an_entry_says_who_when_and_where(api: Acting, raw: RawTable, raw_audit: RawTable) -> None:
    began = int(time.time())
    session_id = create(api)["sessionId"]
    (entry,) = trail(api, session_id, count=1)
    assert (entry["kind"], entry["region"], entry["facts"]) == ("change", REGION, {})
    assert entry["actor"] == f"{TENANT} {api.subject}"
    assert began <= datetime.fromisoformat(entry["at"]).timestamp() <= time.time()
    (row,) = raw_audit.partition(session_id)
    (metadata,) = raw.partition(session_id)
    assert re.fullmatch(REQUEST_ID, row[Attribute.REQUEST_ID]["S"])
    assert row[Attribute.REQUEST_ID] == metadata[Attribute.UPDATED_BY]["M"][Attribute.REQUEST_ID]
    assert row[Attribute.CHANGED_ITEM]["S"] == "metadata"
    assert int(row[Attribute.TTL]["N"]) == pytest.approx(time.time() + 90 * 86_400, abs=120)


def test_a_use_that_moves_the_end_is_told_without_a_version(api: Acting, raw: RawTable) -> None:
    session_id = create(api, {"idleTimeout": 7200})["sessionId"]
    metadata = raw.metadata(session_id)
    assert metadata is not None
    past = int(time.time()) - 1
    # Later than what the watch looks for: it marks what ends soon, by itself, every minute.
    end = past + 3600
    raw.put({**metadata, Attribute.TTL: {"N": str(end)}, Attribute.SLIDE_AFTER: {"N": str(past)}})
    touched = api.call("POST", f"/sessions/{session_id}/touch")
    entries = trail(api, session_id, count=3)
    assert names(entries) == ["SessionCreated", "SessionChanged", "SessionChanged"]
    slid = changes(entries[2])
    assert slid.keys() == {"/ttl", "/slideAfter", "/updatedBy/requestId"}
    assert slid["/ttl"] == ("changed", end, touched.json["ttl"])


def test_payloads_are_told_by_size_and_hash_alone(api: Acting, raw_audit: RawTable) -> None:
    session_id = create(api)["sessionId"]
    append(api, session_id, "confidential message")
    call = tool_call(input={"q": "confidential input"}, output="confidential output")
    assert api.call("PUT", f"/sessions/{session_id}/tool-calls/c1", call).status == 201
    entries = {entry["eventName"]: entry for entry in trail(api, session_id, count=5)}
    message, record = changes(entries["MessageCreated"]), changes(entries["ToolRecordCreated"])
    for change in (message["/content"], record["/input"], record["/output"], record["/error"]):
        assert change[0] == "added"
        assert change[2].keys() == {"bytes", "sha256"}
    assert message["/contentHash"] == ("added", None, digest("confidential message"))
    assert record["/toolName"] == ("added", None, "search")
    assert "confidential" not in json.dumps(raw_audit.partition(session_id))


def test_a_large_payload_is_told_by_its_own_size_and_hash_and_goes_with_its_session(
    api: Acting, raw_audit: RawTable, deployed: LiveStack
) -> None:
    bucket = deployed.variables("session_api")[PayloadEnv.PAYLOAD_BUCKET]
    s3 = deployed.emulator.client("s3")
    session_id = create(api)["sessionId"]
    append(api, session_id, "confidential" + "x" * 400_000)

    def objects() -> list[Any]:
        listed = s3.list_objects_v2(Bucket=bucket, Prefix=payload_prefix(session_id))
        return list(listed.get("Contents", []))

    (kept,) = objects()
    _, appended = trail(api, session_id, count=2)
    assert changes(appended)["/content"] == (
        "added",
        None,
        {"bytes": kept["Size"], "sha256": kept["Key"].rpartition("/")[2]},
    )
    assert kept["Size"] == len("confidential") + 400_002
    assert "confidential" not in json.dumps(raw_audit.partition(session_id))
    assert api.call("DELETE", f"/sessions/{session_id}").status == 204
    assert eventually(lambda: not objects())


def test_a_recorded_call_is_an_event_beside_its_changes(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    for _ in range(2):
        assert api.call("PUT", f"/sessions/{session_id}/tool-calls/c1", tool_call()).status in {200, 201}
    entries = trail(api, session_id, count=4)
    assert sorted(names(entries)) == [
        "SessionCreated",
        "ToolCallRecorded",
        "ToolClaimCreated",
        "ToolRecordCreated",
    ]
    (event,) = (entry for entry in entries if entry["kind"] == "event")
    assert (event["eventName"], event["changes"], event["sequenceNumber"]) == ("ToolCallRecorded", [], None)
    assert (event["actor"], event["region"]) == (f"{TENANT} {api.subject}", REGION)


def test_the_trail_is_paged_by_cursor(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    append(api, session_id, *range(6))
    whole = trail(api, session_id, count=7)
    found = [page.json["items"] for page in pages(api, f"/sessions/{session_id}/audit?limit=3")]
    assert [len(page) for page in found] == [3, 3, 1]
    assert [entry for page in found for entry in page] == whole


def test_nobody_else_reads_the_trail(api: Acting, deployed: LiveStack) -> None:
    session_id = create(api)["sessionId"]
    trail(api, session_id, count=1)
    for stranger in (
        Acting(deployed.api("tenant-b"), api.subject),
        Acting(deployed.api("tenant-a"), new_subject()),
    ):
        answer = stranger.call("GET", f"/sessions/{session_id}/audit")
        assert_problem(answer, 404, "session-not-found")


def with_children(api: Acting) -> str:
    """The id of an active session with three messages and a recorded call: five children."""
    session_id = create_in(api, "active")
    append(api, session_id, "a", "b", "c")
    assert api.call("PUT", f"/sessions/{session_id}/tool-calls/c1", tool_call()).status == 201
    return session_id


def assert_all_gone(raw: RawTable, row: Item, events: Sequence[BusEvent], *, reason: str) -> None:
    """Nothing is left in the table, and the summary says so, as the event does."""
    (event,) = events
    assert event.name == "SessionEnded"
    assert raw.partition(event.detail["sessionId"]) == []
    facts = json.loads(row[Attribute.FACTS]["S"])
    assert (facts["reason"], facts["status"], facts["childrenDeleted"]) == (reason, "active", 5)
    assert row[Attribute.ACTOR]["S"] == CLEAN_UP
    assert {name: event.detail[name] for name in facts} == facts


def test_a_session_that_expires_is_swept_audited_and_cleaned_up(
    api: Acting, raw: RawTable, raw_audit: RawTable, listener: EventListener
) -> None:
    session_id = with_children(api)
    raw.end_at(session_id, int(time.time()) - 2)
    told_of = rows(raw_audit, session_id, last="SessionEnded")
    assert "SessionDeleted" not in told_of
    assert "SessionRemoved" not in told_of
    expired = told_of["SessionExpired"]
    assert expired[Attribute.ACTOR]["S"] == EXPIRY
    removed = audit_entry_from(expired).changes
    assert {each.operation for each in removed} == {Operation.REMOVED}
    assert Difference(operation=Operation.REMOVED, path="/status", old="active") in removed
    assert_all_gone(raw, told_of["SessionEnded"], listener.wait_for_session(session_id), reason="expired")


def test_a_session_that_is_deleted_is_audited_and_cleaned_up(
    api: Acting, raw: RawTable, raw_audit: RawTable, listener: EventListener
) -> None:
    session_id = with_children(api)
    assert api.call("DELETE", f"/sessions/{session_id}").status == 204
    told_of = rows(raw_audit, session_id, last="SessionEnded")
    assert "SessionExpired" not in told_of
    assert Attribute.ACTOR not in told_of["SessionRemoved"]
    assert list(told_of)[-1] == "SessionEnded"
    deleted = told_of["SessionDeleted"]
    assert deleted[Attribute.ACTOR]["S"] == f"{TENANT} {api.subject}"
    assert re.fullmatch(REQUEST_ID, deleted[Attribute.REQUEST_ID]["S"])
    assert_all_gone(raw, told_of["SessionEnded"], listener.wait_for_session(session_id), reason="deleted")
    assert_problem(api.call("GET", f"/sessions/{session_id}/audit"), 404, "session-not-found")


def test_the_credential_that_an_expired_session_named_is_revoked(
    api: Acting, raw: RawTable, raw_audit: RawTable, stack: LiveStack
) -> None:
    name = secret_name(CREDENTIAL_PREFIX, TENANT, "search/token")
    secret = json.dumps({"token": "the token"})
    stack.emulator.client("secretsmanager").create_secret(Name=name, SecretString=secret)
    with authorization_server() as server:
        stack.configure("expiry_cleanup", REVOCATION_ENDPOINT=server.url)
        session_id = create_in(api, "active", credentialRefs=["search/token"])
        raw.end_at(session_id, int(time.time()) - 2)
        summary = rows(raw_audit, session_id, last="SessionEnded")["SessionEnded"]
        assert server.revoked == ["the token"]
    facts = json.loads(summary[Attribute.FACTS]["S"])
    assert (facts["credentialsRevoked"], facts["credentialsFailed"]) == (["search/token"], [])


def test_the_removal_of_children_is_told_by_the_summary_alone(
    api: Acting, raw_audit: RawTable, raw: RawTable
) -> None:
    session_id = with_children(api)
    raw.end_at(session_id, int(time.time()) - 2)
    rows(raw_audit, session_id, last="SessionEnded")
    # What comes after on the same stream is audited after: by then the children's removals have passed.
    later = create(api)["sessionId"]
    trail(api, later, count=1)
    told_of = [row[Attribute.EVENT_NAME]["S"] for row in raw_audit.partition(session_id)]
    assert [name for name in told_of if name.endswith("Removed")] == []
    assert Counter(told_of) == {
        "SessionCreated": 1,
        "SessionChanged": 2,
        "MessageCreated": 3,
        "ToolClaimCreated": 1,
        "ToolRecordCreated": 1,
        "ToolCallRecorded": 1,
        "SessionExpired": 1,
        "SessionEnded": 1,
    }
