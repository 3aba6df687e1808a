"""New tasks in DynamoDB under idempotency keys."""

from msgspec import Struct

from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.task import Task
from session_store.storage.client import Client, TransactionRefusedError
from session_store.storage.keyed_writes import read_key_claim, write_once
from session_store.storage.task_items import new_task_put


class KeyedTaskTable(Struct, frozen=True, kw_only=True):
    client: Client
    shards: int

    def create(self, task: Task, claim: KeyClaim) -> KeyClaim | None:
        try:
            put = new_task_put(task, table=self.client.table, shards=self.shards)
            return write_once(self.client, put, claim)
        except TransactionRefusedError as refused:
            message = "an id that was minted is taken"
            raise AssertionError(message) from refused

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        return read_key_claim(self.client, key_hash)
