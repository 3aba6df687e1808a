"""The table's global secondary indexes, and the types of all keys."""

from typing import Final, Literal

from msgspec import Struct

from session_store.schema.attributes import Attribute

AttributeType = Literal["S", "N"]


class Index(Struct, frozen=True, kw_only=True):
    """A global secondary index with multi-attribute keys; an empty ``projected`` means keys only."""

    name: str
    partition: tuple[Attribute, ...]
    sort: tuple[Attribute, ...]
    projected: tuple[Attribute, ...]


KEY_TYPES: Final[dict[Attribute, AttributeType]] = {
    Attribute.PK: "S",
    Attribute.SK: "S",
    Attribute.STATUS: "S",
    Attribute.SHARD: "N",
    Attribute.TTL: "N",
    Attribute.TENANT: "S",
    Attribute.SUBJECT: "S",
    Attribute.CREATED_AT: "S",
    Attribute.HOME_REGION: "S",
    Attribute.LANE: "S",
    Attribute.QUEUE: "S",
    Attribute.CLAIMABLE_FROM: "S",
    Attribute.OPEN_IN: "S",
    Attribute.DUE: "S",
    Attribute.DUE_FROM: "S",
}

STATUS_TTL_INDEX: Final = Index(
    name="status-ttl-index",
    partition=(Attribute.STATUS, Attribute.SHARD),
    sort=(Attribute.TTL,),
    projected=(Attribute.TENANT, Attribute.SUBJECT, Attribute.HOME_REGION, Attribute.WARNED_TTL),
)
"""Sessions of one status by their end; ``shard`` spreads a status over several partitions."""

OWNER_INDEX: Final = Index(
    name="owner-index",
    partition=(Attribute.TENANT, Attribute.SUBJECT),
    sort=(Attribute.CREATED_AT,),
    projected=(
        Attribute.STATUS,
        Attribute.TTL,
        Attribute.IDLE_TIMEOUT,
        Attribute.MAX_EXPIRES_AT,
        Attribute.HOME_REGION,
    ),
)
"""A caller's sessions by creation. It projects nothing that an ordinary write changes."""

QUEUE_INDEX: Final = Index(
    name="queue-index",
    partition=(Attribute.TENANT, Attribute.HOME_REGION, Attribute.LANE, Attribute.SHARD),
    sort=(Attribute.QUEUE, Attribute.CLAIMABLE_FROM),
    projected=(Attribute.CLAIM_STATUS, Attribute.KIND, Attribute.SESSION_ID),
)
"""A tenant's tasks, lane by lane, in each queue by the time when they can be claimed."""

OPEN_INDEX: Final = Index(
    name="open-index",
    partition=(Attribute.OPEN_IN,),
    sort=(Attribute.CREATED_AT,),
    projected=(),
)
"""What is open in a session, by creation. Its keys never change: an item costs one write in and one out."""

DUE_INDEX: Final = Index(
    name="due-index",
    partition=(Attribute.DUE, Attribute.HOME_REGION, Attribute.SHARD),
    sort=(Attribute.DUE_FROM,),
    projected=(),
)
"""Items of all tenants on which a region has to act by itself, by the time when they are due."""

INDEXES: Final = (STATUS_TTL_INDEX, OWNER_INDEX, QUEUE_INDEX, OPEN_INDEX, DUE_INDEX)
