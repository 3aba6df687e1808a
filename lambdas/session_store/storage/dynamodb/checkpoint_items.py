"""Checkpoints as items of the table, and back."""

from typing import Final

from session_store.domain.checkpoint import Checkpoint
from session_store.domain.times import from_iso, iso
from session_store.schema import Attribute, Entity, checkpoint_prefix, checkpoint_sk, session_pk
from session_store.storage.dynamodb.codec import Item, from_item, to_item
from session_store.storage.dynamodb.ownership import author_attribute, author_from, session_id_of
from session_store.storage.dynamodb.payload_attributes import payload_attribute, payload_from

A: Final = Attribute


def checkpoint_key(session_id: str, namespace: str, checkpoint_id: str) -> Item:
    return to_item({A.PK: session_pk(session_id), A.SK: checkpoint_sk(namespace, checkpoint_id)})


def checkpoint_item(checkpoint: Checkpoint, *, region: str) -> Item:
    # Absent rather than empty: every attribute is repeated in the audit.
    optional = {A.NAMESPACE: checkpoint.namespace or None, A.PARENT_ID: checkpoint.parent_id}
    return to_item(
        {
            A.PK: session_pk(checkpoint.session_id),
            A.SK: checkpoint_sk(checkpoint.namespace, checkpoint.checkpoint_id),
            A.ENTITY: Entity.CHECKPOINT,
            **{name: value for name, value in optional.items() if value is not None},
            A.DATA: payload_attribute(checkpoint.data),
            A.CONTENT_HASH: checkpoint.content_hash,
            A.TAKEN_AT: iso(checkpoint.taken_at),
            A.TTL: checkpoint.ttl,
            A.HOME_REGION: region,
            A.WRITE_REGION: region,
            A.UPDATED_BY: author_attribute(checkpoint.author),
        }
    )


def checkpoint_from(item: Item) -> Checkpoint:
    stored = from_item(item)
    namespace = stored.get(A.NAMESPACE, "")
    return Checkpoint(
        session_id=session_id_of(stored),
        namespace=namespace,
        checkpoint_id=str(stored[A.SK]).removeprefix(checkpoint_prefix(namespace)),
        parent_id=stored.get(A.PARENT_ID),
        data=payload_from(stored[A.DATA]),
        content_hash=stored[A.CONTENT_HASH],
        taken_at=from_iso(stored[A.TAKEN_AT]),
        ttl=stored[A.TTL],
        author=author_from(stored),
    )
