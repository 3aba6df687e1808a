"""Heartbeats in DynamoDB: one item a region, which never expires."""

from typing import Final

from msgspec import Struct

from session_store.domain.heartbeat import Heartbeat
from session_store.domain.times import iso
from session_store.schema import HEARTBEAT_SK, Attribute, Entity, heartbeat_pk
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.codec import Item, to_item
from session_store.storage.dynamodb.ownership import author_attribute

A: Final = Attribute


class HeartbeatTable(Struct, frozen=True, kw_only=True):
    client: Client

    def beat(self, heartbeat: Heartbeat) -> None:
        self.client.replace(heartbeat_item(heartbeat))


def heartbeat_item(heartbeat: Heartbeat) -> Item:
    return to_item(
        {
            A.PK: heartbeat_pk(heartbeat.region),
            A.SK: HEARTBEAT_SK,
            A.ENTITY: Entity.HEARTBEAT,
            A.HOME_REGION: heartbeat.region,
            A.WRITE_REGION: heartbeat.region,
            A.UPDATED_BY: author_attribute(heartbeat.author),
            A.UPDATED_AT: iso(heartbeat.at),
        }
    )
