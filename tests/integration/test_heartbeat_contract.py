"""Heartbeats, under every storage: one a region, the last one."""

from dataclasses import replace
from typing import TYPE_CHECKING

from session_store.domain.heartbeat import Heartbeat
from session_store.ports import Storage
from session_store.settings import Settings
from tests.support.samples import AUTHOR, NOW_MS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

MINUTE_MS = 60_000


def a_heartbeat(region: str, *, at: int = NOW_MS) -> Heartbeat:
    return Heartbeat(region=region, at=at, author=AUTHOR)


def test_a_beat_takes_the_place_of_the_one_before_and_returns_it(storage: Storage) -> None:
    first = a_heartbeat("eu-west-1")
    second = replace(first, at=NOW_MS + MINUTE_MS)
    assert storage.heartbeats.beat(first) is None
    assert storage.heartbeats.beat(second) == first
    assert storage.heartbeats.beat(first) == second


def test_each_region_has_a_beat_of_its_own(storage: Storage) -> None:
    storage.heartbeats.beat(a_heartbeat("us-west-2"))
    assert storage.heartbeats.beat(a_heartbeat("us-west-1")) is None


def test_a_beat_is_one_item_of_the_table_that_never_expires(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient", tables: Settings
) -> None:
    on_dynamodb.heartbeats.beat(a_heartbeat("ap-south-1"))
    key = {"pk": {"S": "heartbeat#ap-south-1"}, "sk": {"S": "heartbeat"}}
    assert dynamodb.get_item(TableName=tables.table, Key=key, ConsistentRead=True)["Item"] == {
        **key,
        "entity": {"S": "heartbeat"},
        "homeRegion": {"S": "ap-south-1"},
        "writeRegion": {"S": "ap-south-1"},
        "updatedBy": {"M": {"actor": {"S": AUTHOR.principal}, "requestId": {"S": AUTHOR.request_id}}},
        "updatedAt": {"S": "2027-01-15T08:00:00.500Z"},
    }
