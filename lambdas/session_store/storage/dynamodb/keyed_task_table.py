"""New tasks under idempotency keys in DynamoDB."""

from msgspec import Struct

from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.task import Task
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.keyed_writes import create_once, read_key_claim
from session_store.storage.dynamodb.task_items import new_task_put


class KeyedTaskTable(Struct, frozen=True, kw_only=True):
    client: Client
    shards: int

    def create(self, task: Task, claim: KeyClaim) -> KeyClaim | None:
        put = new_task_put(task, table=self.client.table, shards=self.shards)
        return create_once(self.client, put, claim)

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        return read_key_claim(self.client, key_hash)
