"""Session writes under idempotency keys in DynamoDB: a write and its claim are one transaction."""

from msgspec import Struct

from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.session import Session
from session_store.domain.session_write import SessionWrite
from session_store.storage.dynamodb.client import Client, SumOutOfRangeError, TransactionRefusedError
from session_store.storage.dynamodb.expressions import Terms, conditional_put, is_absent
from session_store.storage.dynamodb.keyed_writes import WRITE, create_once, write_once
from session_store.storage.dynamodb.session_items import session_item
from session_store.storage.dynamodb.session_updates import (
    refused_sum,
    refused_transaction,
    session_or_none,
    transacted_update,
)


class KeyedSessionTable(Struct, frozen=True, kw_only=True):
    client: Client
    shards: int

    def create(self, session: Session, claim: KeyClaim) -> KeyClaim | None:
        terms = Terms()
        item = session_item(session, shards=self.shards)
        put = conditional_put(item, table=self.client.table, terms=terms, condition=is_absent(terms))
        return create_once(self.client, put, claim)

    def write(self, write: SessionWrite, claim: KeyClaim) -> KeyClaim | None:
        update = transacted_update(write, table=self.client.table)
        try:
            return write_once(self.client, update, claim)
        except TransactionRefusedError as refused:
            session = session_or_none(refused.held[WRITE])
            lost = refused.answer_lost
            raise refused_transaction(session, write.guard, write.change, answer_lost=lost) from refused
        except SumOutOfRangeError as error:
            raise refused_sum(self.client, write) from error
