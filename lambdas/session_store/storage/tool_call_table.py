"""Claims and records of tool calls in DynamoDB."""

from dataclasses import dataclass
from typing import Final

from session_store.domain.audit_event import AuditEvent
from session_store.domain.page import Page, PageRequest, RecordPosition
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.schema import TOOL_SK_PREFIX, session_pk
from session_store.storage.audit_items import audit_event_item
from session_store.storage.child_items import (
    claim_from,
    claim_item,
    claim_key,
    record_from,
    record_item,
    record_key,
)
from session_store.storage.client import Client, TransactionRefusedError
from session_store.storage.expressions import Terms, is_absent
from session_store.storage.partition import query_partition

CLAIM: Final = 0
"""Position of the claim in the transaction: the item that decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallTable:
    client: Client
    audit_table: str
    region: str

    def record(self, claim: Claim, record: ToolCallRecord, event: AuditEvent, *, now_ms: int) -> Claim | None:
        terms = Terms()
        condition = is_absent(terms, now_ms)
        claiming = {
            "Put": {
                "TableName": self.client.table,
                "Item": claim_item(claim, region=self.region),
                "ConditionExpression": condition,
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                **terms.arguments(),
            }
        }
        keeping = {"Put": {"TableName": self.client.table, "Item": record_item(record, region=self.region)}}
        auditing = {"Put": {"TableName": self.audit_table, "Item": audit_event_item(event)}}
        try:
            self.client.transact([claiming, keeping, auditing], token=event.operation_id)
        except TransactionRefusedError as refused:
            return claim_from(refused.held[CLAIM] or {})
        return None

    def read_claim(self, session_id: str, tool_call_id: str) -> Claim | None:
        item = self.client.get(claim_key(session_id, tool_call_id))
        return None if item is None else claim_from(item)

    def read_record(self, claim: Claim) -> ToolCallRecord | None:
        key = record_key(claim.session_id, claim.started_at, claim.tool_call_id)
        item = self.client.get(key)
        return None if item is None else record_from(item)

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
