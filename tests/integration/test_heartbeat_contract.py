"""Heartbeats in the table: one a region, the last one."""

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


def test_a_beat_is_one_item_of_its_region_that_never_expires_and_gives_place_to_the_next(
    on_dynamodb: Storage, dynamodb: "DynamoDBClient", tables: Settings
) -> None:
    for at in (NOW_MS - MINUTE_MS, NOW_MS):
        on_dynamodb.heartbeats.beat(a_heartbeat("ap-south-1", at=at))
    on_dynamodb.heartbeats.beat(a_heartbeat("us-west-1", at=NOW_MS + MINUTE_MS))
    key = {"pk": {"S": "heartbeat#ap-south-1"}, "sk": {"S": "heartbeat"}}
    assert dynamodb.get_item(TableName=tables.table, Key=key, ConsistentRead=True)["Item"] == {
        **key,
        "entity": {"S": "heartbeat"},
        "homeRegion": {"S": "ap-south-1"},
        "writeRegion": {"S": "ap-south-1"},
        "updatedBy": {"M": {"actor": {"S": AUTHOR.principal}, "requestId": {"S": AUTHOR.request_id}}},
        "updatedAt": {"S": "2027-01-15T08:00:00.500Z"},
    }
