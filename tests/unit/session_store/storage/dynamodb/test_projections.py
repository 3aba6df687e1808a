"""A projection has every attribute that its reader needs: one that is forgotten would read as None."""

from collections.abc import Callable, Collection

import pytest
from msgspec import Struct
from msgspec.structs import fields, replace

from session_store.domain.claim import ClaimStatus
from session_store.domain.session import ExpiringSession, Session, SessionSummary
from session_store.domain.task import Task, TaskStatus
from session_store.domain.tool_call import Claim
from session_store.schema import OWNER_INDEX, QUEUE_INDEX, STATUS_TTL_INDEX, Attribute, Index
from session_store.storage.dynamodb.child_items import claim_from, claim_item
from session_store.storage.dynamodb.codec import Item
from session_store.storage.dynamodb.session_items import expiring_from, session_item, summary_from
from session_store.storage.dynamodb.task_items import WITHOUT_PAYLOADS, task_from, task_item
from session_store.storage.dynamodb.task_lists import Shard, queue_entry
from session_store.storage.dynamodb.tool_call_table import LISTED
from session_store.storage.memory.pages import expiring_of, summary_of
from tests.support.samples import NOW_MS, NOW_SECONDS, REGION, a_running_call, a_session
from tests.support.task_samples import a_task, an_approval

A = Attribute

TASK = a_task(
    status=TaskStatus.CLAIMED,
    fence=NOW_MS,
    lease_until_ms=NOW_MS + 1,
    next_at=NOW_MS + 1,
    attempts=2,
    worker="w",
    session_id="use1-s",
    deadline_ms=NOW_MS + 2,
    result="r",
    error="e",
    outcome_hash="h",
    last_write="o",
    retain_seconds=7,
)
APPROVAL = an_approval(
    status=TaskStatus.APPROVED,
    decided_by="boss",
    comment="yes",
    ended_at=NOW_MS + 3,
    next_at=NOW_MS + 3,
    ttl=NOW_SECONDS + 4,
)
CALL = a_running_call(a_session(), outcome_hash="h", retry_safe=True)
SESSION = a_session(state={"a": 1}, protocol={"p": 1}, credential_refs=("ref",), warned_ttl=NOW_SECONDS)

TASK_PAYLOADS = {A.PAYLOAD, A.RESULT, A.ERROR, A.COMMENT}
UNREAD = {A.ENTITY, A.LANE, A.SHARD, A.OPEN_IN, A.DUE, A.DUE_FROM, A.WRITE_REGION}
"""Attributes for indexes, the stream and operators; ``task_from`` reads none of them."""


def projected(item: Item, names: Collection[str]) -> Item:
    return {name: value for name, value in item.items() if name in names}


def indexed(item: Item, index: Index) -> Item:
    return projected(item, {A.PK, A.SK, *index.partition, *index.sort, *index.projected})


def defaults(*values: Struct) -> set[str]:
    """Fields with their default in every value: the tests would not notice their attributes."""
    return {
        field.name
        for field in fields(values[0])
        if not field.required and all(getattr(value, field.name) == field.default for value in values)
    }


def test_the_samples_set_every_field() -> None:
    assert defaults(TASK, APPROVAL) == {"retry_safe"}  # never stored: a task may always be retried
    assert defaults(CALL) == set()
    assert defaults(SESSION) == set()


@pytest.mark.parametrize("name", sorted({*task_item(TASK, shards=4), *task_item(APPROVAL, shards=4)}))
def test_each_attribute_of_a_task_is_projected_or_left_out_by_name(name: Attribute) -> None:
    left_out = TASK_PAYLOADS | UNREAD
    assert (name in WITHOUT_PAYLOADS) != (name in left_out)


@pytest.mark.parametrize("task", [TASK, APPROVAL])
def test_a_task_without_payloads_is_the_task_in_all_else(task: Task) -> None:
    shown = task_from(projected(task_item(task, shards=4), WITHOUT_PAYLOADS))
    assert shown == replace(task, payload=None, result=None, error=None, comment=None)


@pytest.mark.parametrize("name", sorted(claim_item(CALL, region=REGION)))
def test_each_attribute_of_a_claim_is_projected_or_left_out_by_name(name: Attribute) -> None:
    assert (name in LISTED) != (name in {A.INPUT, A.ENTITY, A.HOME_REGION, A.WRITE_REGION})


@pytest.mark.parametrize("claim", [CALL, replace(CALL, status=ClaimStatus.FAILED)])
def test_a_listed_claim_is_the_claim_without_its_input(claim: Claim) -> None:
    assert claim_from(projected(claim_item(claim, region=REGION), LISTED)) == replace(claim, input=None)


@pytest.mark.parametrize(
    ("index", "read", "expected"),
    [
        (OWNER_INDEX, summary_from, summary_of),
        (STATUS_TTL_INDEX, expiring_from, expiring_of),
    ],
)
def test_an_index_has_all_that_its_list_reads(
    index: Index,
    read: Callable[[Item], SessionSummary | ExpiringSession],
    expected: Callable[[Session], SessionSummary | ExpiringSession],
) -> None:
    assert read(indexed(session_item(SESSION, shards=4), index)) == expected(SESSION)


def test_the_queue_index_has_all_that_a_list_filters_by() -> None:
    entry = queue_entry(indexed(task_item(TASK, shards=4), QUEUE_INDEX), Shard(REGION, 3))
    assert (entry.task_id, entry.status, entry.kind, entry.session_id) == (
        TASK.task_id,
        TASK.status,
        TASK.kind,
        TASK.session_id,
    )
