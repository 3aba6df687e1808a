"""Claims and records of tool calls in DynamoDB."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from session_store.domain.claim import ClaimGuard
from session_store.domain.page import Page, PageRequest, RecordPosition
from session_store.domain.settlement import CallSnapshot, Settlement
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.ports import Refused
from session_store.schema import CALL_SK_PREFIX, TOOL_SK_PREFIX, Attribute, Entity, session_pk
from session_store.storage.dynamodb.child_items import (
    claim_from,
    claim_item,
    claim_key,
    message_from,
    message_key,
    record_from,
    record_key,
)
from session_store.storage.dynamodb.client import (
    Client,
    SumOutOfRangeError,
    TokenUsedError,
    TransactionRefusedError,
)
from session_store.storage.dynamodb.codec import Item, from_attribute
from session_store.storage.dynamodb.expressions import Terms, all_of, is_admitted, is_equal, is_unsettled
from session_store.storage.dynamodb.leases import LEASE_ATTRIBUTES, put_guarded
from session_store.storage.dynamodb.partition import query_partition
from session_store.storage.dynamodb.session_items import metadata_key, session_from
from session_store.storage.dynamodb.session_updates import refused_sum
from session_store.storage.dynamodb.settlements import (
    TWIN_PAUSE,
    check_limits,
    check_session_refusal,
    settlement_items,
)

A: Final = Attribute
LISTED: Final = (A.PK, A.SK, A.TOOL_CALL_ID, A.TOOL_NAME, *LEASE_ATTRIBUTES)
"""The attributes of a listed claim: all that ``claim_from`` reads, except the input."""


class ToolCallTable(Struct, frozen=True, kw_only=True):
    client: Client
    audit_table: str
    region: str
    shards: int

    def settle(self, settlement: Settlement) -> bool:
        items = settlement_items(
            settlement,
            table=self.client.table,
            audit_table=self.audit_table,
            region=self.region,
            shards=self.shards,
        )
        check_limits(items)
        try:
            self.client.transact(items, token=settlement.token)
        except SumOutOfRangeError as error:
            raise refused_sum(self.client, settlement.write) from error
        except TokenUsedError:
            self.client.attempts.pause(TWIN_PAUSE)
            return False
        except TransactionRefusedError as refused:
            check_session_refusal(settlement, refused, position=len(items) - 1)
            return False
        return True

    def put(self, claim: Claim, guard: ClaimGuard) -> Refused[Claim] | None:
        item = claim_item(claim, region=self.region)
        return put_guarded(self.client, item, guard, clause=is_admitted, read=claim_from)

    def read_call(
        self, session_id: str, tool_call_id: str, *, message_ids: Sequence[str] = ()
    ) -> CallSnapshot:
        keys = [
            metadata_key(session_id),
            claim_key(session_id, tool_call_id),
            *(message_key(session_id, message_id) for message_id in message_ids),
        ]
        by_entity: dict[Any, list[Item]] = {}
        for item in self.client.get_all(keys):
            by_entity.setdefault(from_attribute(item[A.ENTITY]), []).append(item)
        sessions, claims = by_entity.get(Entity.SESSION), by_entity.get(Entity.TOOL_CLAIM)
        messages = map(message_from, by_entity.get(Entity.MESSAGE, ()))
        return CallSnapshot(
            session=session_from(sessions[0]) if sessions else None,
            claim=claim_from(claims[0]) if claims else None,
            messages={message.message_id: message for message in messages},
        )

    def read_record(self, claim: Claim) -> ToolCallRecord | None:
        key = record_key(claim.session_id, claim.started_at, claim.tool_call_id)
        item = self.client.get(key)
        return None if item is None else record_from(item)

    def unsettled(self, session_id: str) -> Sequence[Claim]:
        terms = Terms()
        pages = self.client.pages(
            KeyConditionExpression=all_of(
                is_equal(terms, A.PK, session_pk(session_id)),
                f"begins_with({terms.name(A.SK)}, {terms.value(CALL_SK_PREFIX)})",
            ),
            FilterExpression=is_unsettled(terms),
            ProjectionExpression=", ".join(map(terms.name, LISTED)),
            ConsistentRead=True,
            **terms.arguments(),
        )
        return [claim_from(item) for items in pages for item in items]

    def page(
        self, session_id: str, page: PageRequest[RecordPosition]
    ) -> Page[ToolCallRecord, RecordPosition]:
        after = page.after
        items, more = query_partition(
            self.client,
            session_pk(session_id),
            TOOL_SK_PREFIX,
            limit=page.limit,
            after=None if after is None else record_key(session_id, after.started_at, after.tool_call_id),
            descending=page.descending,
        )
        records = tuple(record_from(item) for item in items)
        return Page(items=records, next=_position(records[-1]) if more and records else None)


def _position(record: ToolCallRecord) -> RecordPosition:
    return RecordPosition(started_at=record.started_at, tool_call_id=record.tool_call_id)
