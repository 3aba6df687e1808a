"""Heartbeats in DynamoDB: one item a region, which never expires."""

from dataclasses import dataclass
from typing import Final

from session_store.domain.heartbeat import Heartbeat
from session_store.domain.times import from_iso, iso
from session_store.schema import HEARTBEAT_SK, Attribute, Entity, heartbeat_pk
from session_store.storage.client import Client
from session_store.storage.codec import Item, from_item, to_item
from session_store.storage.ownership import author_attribute, author_from

A: Final = Attribute


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatTable:
    client: Client

    def beat(self, heartbeat: Heartbeat) -> Heartbeat | None:
        before = self.client.replace(heartbeat_item(heartbeat))
        return None if before is None else heartbeat_from(before)


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


def heartbeat_from(item: Item) -> Heartbeat:
    stored = from_item(item)
    return Heartbeat(
        region=stored[A.HOME_REGION], at=from_iso(stored[A.UPDATED_AT]), author=author_from(stored)
    )
