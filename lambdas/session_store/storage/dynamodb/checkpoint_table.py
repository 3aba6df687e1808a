"""Checkpoints in DynamoDB."""

from typing import Any, Final

from msgspec import Struct

from session_store.domain.checkpoint import Checkpoint
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.page import CheckpointPosition, Page, PageRequest
from session_store.domain.times import seconds
from session_store.schema import Attribute, checkpoint_prefix, checkpoint_sk, session_pk
from session_store.storage.dynamodb.checkpoint_items import checkpoint_from, checkpoint_item, checkpoint_key
from session_store.storage.dynamodb.client import Client, ConditionFailedError, TransactionRefusedError
from session_store.storage.dynamodb.expressions import Terms, all_of, conditional_put, is_absent, is_equal
from session_store.storage.dynamodb.keyed_writes import WRITE, read_key_claim, write_once
from session_store.storage.dynamodb.partition import query_partition

A: Final = Attribute


class CheckpointTable(Struct, frozen=True, kw_only=True):
    client: Client
    region: str

    def put(self, checkpoint: Checkpoint) -> Checkpoint | None:
        terms = Terms()
        condition = is_absent(terms, checkpoint.taken_at)
        item = checkpoint_item(checkpoint, region=self.region)
        try:
            self.client.put(item, ConditionExpression=condition, **terms.arguments())
        except ConditionFailedError as failed:
            return None if failed.item in (None, item) else checkpoint_from(failed.item)
        return None

    def put_under_key(self, checkpoint: Checkpoint, claim: KeyClaim) -> KeyClaim | Checkpoint | None:
        terms = Terms()
        condition = is_absent(terms, checkpoint.taken_at)
        item = checkpoint_item(checkpoint, region=self.region)
        put = conditional_put(item, table=self.client.table, terms=terms, condition=condition)
        try:
            return write_once(self.client, put, claim)
        except TransactionRefusedError as refused:
            # Conclusive even if a response was lost: had this been done, the claim would exist.
            return checkpoint_from(refused.held[WRITE] or {})

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        return read_key_claim(self.client, key_hash)

    def read(self, session_id: str, namespace: str, checkpoint_id: str) -> Checkpoint | None:
        item = self.client.get(checkpoint_key(session_id, namespace, checkpoint_id))
        return None if item is None else checkpoint_from(item)

    def has(self, session_id: str, namespace: str, checkpoint_id: str, *, now_ms: int) -> bool:
        terms = Terms()
        arguments: dict[str, Any] = {
            "KeyConditionExpression": all_of(
                is_equal(terms, A.PK, session_pk(session_id)),
                is_equal(terms, A.SK, checkpoint_sk(namespace, checkpoint_id)),
            ),
            "FilterExpression": f"{terms.name(A.TTL)} > {terms.value(seconds(now_ms))}",
            "ConsistentRead": True,
        }
        counted, _ = self.client.count(**arguments, **terms.arguments())
        return counted > 0

    def page(
        self, session_id: str, namespace: str, page: PageRequest[CheckpointPosition]
    ) -> Page[Checkpoint, CheckpointPosition]:
        after = page.after
        items, more = query_partition(
            self.client,
            session_pk(session_id),
            checkpoint_prefix(namespace),
            limit=page.limit,
            after=None if after is None else checkpoint_key(session_id, namespace, after.checkpoint_id),
            descending=page.descending,
        )
        checkpoints = tuple(map(checkpoint_from, items))
        last = (
            CheckpointPosition(checkpoint_id=checkpoints[-1].checkpoint_id) if more and checkpoints else None
        )
        return Page(items=checkpoints, next=last)
