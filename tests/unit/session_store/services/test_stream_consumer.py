import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from audit_consumer.records import decode_record
from session_store.domain.differences import Difference, Exposure, Operation
from session_store.domain.json_values import encode
from session_store.domain.payload import StoredPayload
from session_store.domain.session import Author, Owner, Status
from session_store.domain.session_end import EndReason, SessionEnd
from session_store.errors import UnreadableRecordError
from session_store.schema import PAYLOADS, checkpoint_sk, task_pk
from session_store.services.stream_consumer import StreamConsumer
from session_store.storage.dynamodb.checkpoint_items import checkpoint_item
from session_store.storage.dynamodb.child_items import claim_item, message_item, record_item
from session_store.storage.dynamodb.free_claim_table import free_claim_item
from session_store.storage.dynamodb.key_claims import key_claim_item
from session_store.storage.dynamodb.task_items import task_item
from session_store.storage.memory.audit import MemoryAudit
from session_store.storage.memory.state import Memory
from tests.support.samples import (
    AUTHOR,
    NOW_MS,
    NOW_SECONDS,
    OWNER,
    REGION,
    a_call,
    a_checkpoint,
    a_free_claim,
    a_key_claim,
    a_message,
    a_session,
)
from tests.support.stream import AT, SERVICE, a_record, image_of
from tests.support.task_samples import a_task, done, took

RETENTION = 90 * 86_400


@dataclass
class Sent:
    ends: list[SessionEnd] = field(default_factory=list)

    def send(self, end: SessionEnd) -> None:
        self.ends.append(end)


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def consumer(memory: Memory, sent: Sent) -> StreamConsumer:
    return StreamConsumer(
        storage=MemoryAudit(memory=memory),
        cleanup=sent,
        exposure=Exposure(digested=frozenset({"content", "data"}), payloads=frozenset(PAYLOADS)),
        region=REGION,
        audit_retention=RETENTION,
    )


def consume(consumer: StreamConsumer, record: Mapping[str, Any]) -> None:
    consumer.consume(decode_record(record))


def test_a_change_is_audited_with_its_author_difference_and_time(
    consumer: StreamConsumer, memory: Memory
) -> None:
    session = a_session(state={"n": 1})
    after = replace(session, version=2, state={"n": 2}, updated_by=Author(principal="p", request_id="r"))
    record = a_record(old=image_of(session), new=image_of(after))
    consume(consumer, record)
    (change,) = memory.changes.values()
    assert (change.event_name, change.author) == ("SessionChanged", after.updated_by)
    assert (change.at, change.ttl, change.region) == (AT, NOW_SECONDS + RETENTION, REGION)
    assert change.sequence_number == record["dynamodb"]["SequenceNumber"]
    assert change.changes == (
        Difference(operation=Operation.CHANGED, path="/state/n", old=1, new=2),
        Difference(operation=Operation.CHANGED, path="/updatedBy/actor", old=AUTHOR.principal, new="p"),
        Difference(operation=Operation.CHANGED, path="/updatedBy/requestId", old="request-1", new="r"),
        Difference(operation=Operation.CHANGED, path="/version", old=1, new=2),
    )


def test_a_record_delivered_again_is_audited_once(consumer: StreamConsumer, memory: Memory) -> None:
    records = [a_record(new=image_of(a_session())) for _ in range(3)]
    for record in records * 3:
        consume(consumer, record)
    assert len(memory.changes) == 3


def test_children_are_audited_as_they_come(consumer: StreamConsumer, memory: Memory) -> None:
    session = a_session()
    claim, call = a_call(session, "c1")
    for item in (
        message_item(a_message(session, "secret words"), region=REGION),
        claim_item(claim, region=REGION),
        record_item(call, region=REGION),
    ):
        consume(consumer, a_record(new=item))
    names = [change.event_name for change in memory.changes.values()]
    assert names == ["MessageCreated", "ToolClaimCreated", "ToolRecordCreated"]
    shown = {each.path: each.new for change in memory.changes.values() for each in change.changes}
    text = encode("secret words")
    assert shown["/content"] == {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}


@pytest.mark.parametrize("stored", ["secret plan", StoredPayload(size=400_000, sha256="a" * 64)])
def test_a_checkpoint_is_audited_with_size_and_hash_of_its_data(
    consumer: StreamConsumer, memory: Memory, stored: Any
) -> None:
    session = a_session()
    checkpoint = a_checkpoint(session, stored, content_hash="h", namespace="a#b", parent_id="parent")
    consume(consumer, a_record(new=checkpoint_item(checkpoint, region=REGION)))
    (change,) = memory.changes.values()
    assert (change.event_name, change.author) == ("CheckpointCreated", AUTHOR)
    assert change.sk == checkpoint_sk("a#b", checkpoint.checkpoint_id)
    shown = {each.path: each.new for each in change.changes}
    assert (shown["/namespace"], shown["/parentId"]) == ("a#b", "parent")
    text = encode("secret plan")
    told_of = (
        {"bytes": 400_000, "sha256": "a" * 64}
        if isinstance(stored, StoredPayload)
        else {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    )
    assert shown["/data"] == told_of


def test_the_removal_of_a_child_goes_with_its_session(
    consumer: StreamConsumer, memory: Memory, sent: Sent
) -> None:
    consume(consumer, a_record(old=message_item(a_message(a_session()), region=REGION)))
    assert (memory.changes, sent.ends) == ({}, [])


def test_a_task_is_audited_as_it_goes_and_its_payloads_are_not_shown(
    consumer: StreamConsumer, memory: Memory, sent: Sent
) -> None:
    task = a_task(payload="secret words")
    held = took(task).claim
    over = done(held, result="secret result").claim
    images = [task_item(each, shards=4) for each in (task, held, over)]
    consumer = replace(
        consumer, exposure=Exposure(digested=frozenset(PAYLOADS), payloads=frozenset(PAYLOADS))
    )
    consume(consumer, a_record(new=images[0]))
    consume(consumer, a_record(old=images[0], new=images[1]))
    consume(consumer, a_record(old=images[1], new=images[2]))
    consume(consumer, a_record(old=images[2], identity=SERVICE))
    changes = list(memory.changes.values())
    assert [change.event_name for change in changes] == [
        "TaskCreated",
        "TaskChanged",
        "TaskChanged",
        "TaskExpired",
    ]
    assert {change.pk for change in changes} == {task_pk(task.task_id)}
    assert "secret" not in str(changes)
    assert changes[-1].author == Author(principal="dynamodb.amazonaws.com", request_id="")
    assert sent.ends == []


@pytest.mark.parametrize(
    ("identity", "ttl", "reason", "name", "actor"),
    [
        (SERVICE, NOW_SECONDS + 99, EndReason.EXPIRED, "SessionExpired", "dynamodb.amazonaws.com"),
        (None, NOW_SECONDS, EndReason.EXPIRED, "SessionExpired", "dynamodb.amazonaws.com"),
        (None, NOW_SECONDS - 99, EndReason.EXPIRED, "SessionExpired", "dynamodb.amazonaws.com"),
        (None, NOW_SECONDS + 1, EndReason.DELETED, "SessionRemoved", None),
        ({"type": "User", "principalId": "x"}, NOW_SECONDS + 1, EndReason.DELETED, "SessionRemoved", None),
    ],
)
def test_expiry_is_distinguished_from_deletion(
    consumer: StreamConsumer,
    memory: Memory,
    sent: Sent,
    identity: Mapping[str, str] | None,
    ttl: int,
    reason: EndReason,
    name: str,
    actor: str | None,
) -> None:
    session = a_session(ttl=ttl, status=Status.CLOSED, version=7, credential_refs=("a", "b"))
    consume(consumer, a_record(old=image_of(session), identity=identity))
    assert sent.ends == [
        SessionEnd(
            session_id=session.session_id,
            owner=OWNER,
            reason=reason,
            status="closed",
            version=7,
            created_at=NOW_MS,
            ended_at=AT,
            credential_refs=("a", "b"),
        )
    ]
    (change,) = memory.changes.values()
    assert change.event_name == name
    assert (change.author and change.author.principal) == actor


def test_what_another_region_wrote_is_audited_over_there(
    consumer: StreamConsumer, memory: Memory, sent: Sent
) -> None:
    elsewhere = a_session(home_region="eu-west-1", write_region="eu-west-1")
    consume(consumer, a_record(new=image_of(elsewhere)))
    consume(consumer, a_record(old=image_of(elsewhere), identity=SERVICE))
    assert (memory.changes, sent.ends) == ({}, [])


@pytest.mark.parametrize("lost", ["tenant", "ttl", "createdAt", "homeRegion"])
def test_a_session_without_what_it_must_have_is_unreadable_or_not_ours(
    consumer: StreamConsumer, memory: Memory, sent: Sent, lost: str
) -> None:
    image = image_of(a_session())
    del image[lost]
    if lost == "homeRegion":
        consume(consumer, a_record(old=image))
    else:
        with pytest.raises(UnreadableRecordError):
            consume(consumer, a_record(old=image))
    assert (memory.changes, sent.ends) == ({}, [])


@pytest.mark.parametrize("entity", [{"S": "robot"}, {"S": "auditEvent"}, {"N": "1"}, None])
def test_an_item_of_an_unknown_kind_is_unreadable(
    consumer: StreamConsumer, memory: Memory, entity: Mapping[str, str] | None
) -> None:
    image = {**image_of(a_session()), "entity": entity}
    if entity is None:
        del image["entity"]
    with pytest.raises(UnreadableRecordError):
        consume(consumer, a_record(new=image))
    assert memory.changes == {}


def test_the_owner_of_an_ended_session_is_that_of_its_item(consumer: StreamConsumer, sent: Sent) -> None:
    owner = Owner(tenant="t", subject="s")
    consume(consumer, a_record(old=image_of(a_session(owner=owner)), identity=SERVICE))
    assert sent.ends[0].owner == owner


def test_the_claim_of_a_key_is_not_audited_by_itself(
    consumer: StreamConsumer, memory: Memory, sent: Sent
) -> None:
    image = key_claim_item(a_key_claim())
    consume(consumer, a_record(new=image))
    consume(consumer, a_record(old=image, identity=SERVICE))
    assert (memory.changes, sent.ends) == ({}, [])


def test_a_free_claim_is_audited_and_its_expiry_is_not(
    consumer: StreamConsumer, memory: Memory, sent: Sent
) -> None:
    claim = a_free_claim()
    begun, held = free_claim_item(claim), free_claim_item(replace(claim, lease_until_ms=NOW_MS + 90_000))
    consume(consumer, a_record(new=begun))
    consume(consumer, a_record(old=begun, new=held))
    consume(consumer, a_record(old=held, identity=SERVICE))
    (made, changed) = memory.changes.values()
    assert [made.event_name, changed.event_name] == ["ClaimCreated", "ClaimChanged"]
    assert [(each.path, each.new) for each in changed.changes] == [("/leaseUntilMs", NOW_MS + 90_000)]
    assert sent.ends == []
