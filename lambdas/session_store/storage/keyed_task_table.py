"""New tasks in DynamoDB under idempotency keys."""

from dataclasses import dataclass

from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.task import Task
from session_store.schema import KEY_CLAIM_SK, Attribute, key_claim_pk
from session_store.storage.client import TransactionRefusedError
from session_store.storage.codec import to_item
from session_store.storage.key_claims import key_claim_from
from session_store.storage.keyed_writes import KeyedWrites
from session_store.storage.task_items import new_task_put


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedTaskTable(KeyedWrites):
    shards: int

    def create(self, task: Task, claim: KeyClaim) -> KeyClaim | None:
        try:
            return self.sent(new_task_put(task, table=self.client.table, shards=self.shards), claim)
        except TransactionRefusedError as refused:
            message = "an id that was minted is taken"
            raise AssertionError(message) from refused

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        key = to_item({Attribute.PK: key_claim_pk(key_hash), Attribute.SK: KEY_CLAIM_SK})
        item = self.client.get(key)
        return None if item is None else key_claim_from(item)
