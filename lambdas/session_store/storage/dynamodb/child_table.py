"""The child items of an ended session in DynamoDB, and the progress of erasing them."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from session_store.domain.erasure import Erasure
from session_store.schema import ERASURE_SK, SESSION_SK, Attribute, Entity, erasure_pk, session_pk
from session_store.storage.dynamodb.client import Client, ConditionFailedError
from session_store.storage.dynamodb.codec import Item, from_attribute, from_item, to_item
from session_store.storage.dynamodb.expressions import Terms, Update, is_absent, is_equal

A: Final = Attribute
BATCH: Final = 25
"""Items that one BatchWriteItem takes."""


class ChildTable(Struct, frozen=True, kw_only=True):
    client: Client
    audit: Client
    """Client of the audit table, which has no stream: the progress itself must not be audited."""

    def first(self, session_id: str, *, limit: int) -> Sequence[str]:
        terms = Terms()
        pages = self.client.pages(
            KeyConditionExpression=is_equal(terms, A.PK, session_pk(session_id)),
            ProjectionExpression=terms.name(A.SK),
            ConsistentRead=True,
            Limit=limit,
            **terms.arguments(),
        )
        sort_keys = ([from_attribute(item[A.SK]) for item in items] for items in pages)
        children = ([sk for sk in page if sk != SESSION_SK] for page in sort_keys)
        return next(filter(None, children), [])

    def erase(self, session_id: str, sks: Sequence[str]) -> None:
        pk = session_pk(session_id)
        for start in range(0, len(sks), BATCH):
            self.client.delete_all([to_item({A.PK: pk, A.SK: sk}) for sk in sks[start : start + BATCH]])

    def read_erasure(self, session_id: str) -> Erasure:
        return _erasure(self.audit.get(_key(session_id)))

    def advance(self, session_id: str, before: Erasure, after: Erasure, *, ttl: int) -> Erasure:
        terms = Terms()
        update = Update(terms)
        update.set(A.ENTITY, Entity.ERASURE)
        update.set(A.COUNTED, after.counted)
        update.set(A.UP_TO, after.up_to)
        update.set(A.TTL, ttl)
        unchanged = is_equal(terms, A.UP_TO, before.up_to) if before.up_to else is_absent(terms)
        try:
            item = self.audit.update(
                _key(session_id),
                UpdateExpression=update.expression(),
                ConditionExpression=unchanged,
                **terms.arguments(),
            )
        except ConditionFailedError as failed:
            return _erasure(failed.item)
        return _erasure(item)


def _key(session_id: str) -> Item:
    return to_item({A.PK: erasure_pk(session_id), A.SK: ERASURE_SK})


def _erasure(item: Item | None) -> Erasure:
    if item is None:
        return Erasure()
    stored = from_item(item)
    return Erasure(counted=int(str(stored[A.COUNTED])), up_to=str(stored[A.UP_TO]))
