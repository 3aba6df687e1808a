"""The clean-up on DynamoDB: crashes between any two writes, many children, what DynamoDB leaves undone."""

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from session_store.ports import Storage
from session_store.schema import Attribute, session_pk
from session_store.settings import Settings
from tests.support.ended import Surroundings, an_end, left_behind, messages_of, summaries
from tests.support.faults import crash_at, leave_undone, watch_spending
from tests.support.samples import a_message, a_session

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

MANY = 20_000
MEGABYTE = 1024 * 1024

WRITES = [
    "UpdateItem",
    "BatchWriteItem",
    "BatchWriteItem",
    "UpdateItem",
    "BatchWriteItem",
    "PutItem",
]
"""Of 60 children in pages of 40: counted, 25 and 15 erased; counted, 20 erased; the summary."""


class CrashError(BaseException):
    """The process ended; nothing may catch it."""


@pytest.fixture
def around() -> Surroundings:
    return Surroundings()


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "crash" in request.fixturenames:
        monkeypatch.setattr("session_store.services.cleanup.PAGE", 40)


@pytest.mark.parametrize("after", [False, True], ids=["before it is sent", "after it is done"])
@pytest.mark.parametrize("crash", range(len(WRITES)))
def test_a_crash_at_any_write_and_another_delivery_leave_nothing_and_one_summary(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient", around: Surroundings, crash: int, *, after: bool
) -> None:
    session = left_behind(on_dynamodb, messages=54, calls=2, checkpoints=2)
    end = an_end(session, credential_refs=("ref",))
    around.keep_secret(end, "ref", token="t")
    cleanup = around.cleanup(on_dynamodb)
    crashes = crash_at(dynamodb, crash, CrashError, after=after)
    with pytest.raises(CrashError):
        cleanup.run(end, request_id="first")
    assert crashes.begun == WRITES[: crash + 1]
    crashes.armed = False
    assert cleanup.run(end, request_id="second").children == 60
    assert cleanup.run(end, request_id="third").children == 60
    assert on_dynamodb.children.first(session.session_id, limit=10) == []
    (summary,) = summaries(on_dynamodb, session)
    assert (summary.facts["childrenDeleted"], summary.facts["credentialsRevoked"]) == (60, ["ref"])
    first, again = around.bus.notices
    assert first == again
    assert first.detail["childrenDeleted"] == 60


def test_deliveries_at_once_erase_and_count_each_child_once(
    on_dynamodb: Storage, around: Surroundings
) -> None:
    session = left_behind(on_dynamodb, messages=30)
    children = on_dynamodb.children
    here, there = children.read_erasure(session.session_id), children.read_erasure(session.session_id)
    sks = children.first(session.session_id, limit=20)
    kept = children.advance(session.session_id, here, here.counting(sks), ttl=1)
    assert children.advance(session.session_id, there, there.counting(sks[:10]), ttl=1) == kept
    assert around.cleanup(on_dynamodb).run(an_end(session), request_id="r").children == 30


def test_what_dynamodb_leaves_undone_is_done(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient", around: Surroundings
) -> None:
    session = left_behind(on_dynamodb, messages=60)
    left = leave_undone(dynamodb, every=3)
    assert around.cleanup(on_dynamodb).run(an_end(session), request_id="r").children == 60
    assert left["items"] > 0
    assert messages_of(on_dynamodb, session) == ()


def many_children(dynamodb: "DynamoDBClient", table: str) -> str:
    """The id of a session with ``MANY`` children of half a kilobyte."""
    session = a_session()
    pk = {"S": session_pk(session.session_id)}
    for start in range(0, MANY, 25):
        puts = [
            {
                "PutRequest": {
                    "Item": {
                        Attribute.PK.value: pk,
                        Attribute.SK.value: {"S": f"context#{number:06}"},
                        Attribute.CONTENT.value: {"S": "x" * 500},
                    }
                }
            }
            for number in range(start, start + 25)
        ]
        dynamodb.batch_write_item(RequestItems={table: puts})  # type: ignore[dict-item] # built above
    return session.session_id


def test_a_session_of_20_000_children_is_erased_in_bounded_memory(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient", tables: Settings, around: Surroundings
) -> None:
    session_id = many_children(dynamodb, tables.table)
    spending = watch_spending(dynamodb)
    cleanup = around.cleanup(on_dynamodb)
    tracemalloc.start()
    try:
        assert cleanup.run(an_end(a_session(session_id=session_id)), request_id="r").children == MANY
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * MEGABYTE
    assert spending.calls["BatchWriteItem"] == MANY // 25
    # A page of keys and one count each, and the look that finds nothing more.
    assert spending.calls["UpdateItem"] == spending.calls["Query"] - 1 == MANY // 1000
    assert on_dynamodb.children.first(session_id, limit=1) == []


def test_a_message_that_arrived_late_is_erased_by_the_next_delivery(
    on_dynamodb: Storage, around: Surroundings
) -> None:
    session = left_behind(on_dynamodb, messages=2)
    cleanup = around.cleanup(on_dynamodb)
    cleanup.run(an_end(session), request_id="r")
    on_dynamodb.messages.put(a_message(session, "late"))
    cleanup.run(an_end(session), request_id="r")
    assert messages_of(on_dynamodb, session) == ()
    assert [summary.facts["childrenDeleted"] for summary in summaries(on_dynamodb, session)] == [2]
