"""The children of a session as items of the table, and back.

Values that are never changed in place (message contents, tool inputs and outcomes) are payloads, see
``payload_attributes``. A session's state is a map, because its keys are updated one by one.
"""

from typing import Final

from session_store.domain.claim import ClaimStatus
from session_store.domain.message import Message
from session_store.domain.times import from_iso, iso
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.schema import (
    CONTEXT_SK_PREFIX,
    Attribute,
    Entity,
    claim_sk,
    message_sk,
    record_sk,
    session_pk,
)
from session_store.storage.dynamodb.codec import Item, from_item, to_item
from session_store.storage.dynamodb.leases import lease_attributes, lease_from, open_input, open_input_from
from session_store.storage.dynamodb.ownership import author_attribute, author_from, session_id_of
from session_store.storage.dynamodb.payload_attributes import payload_attribute, payload_from

A: Final = Attribute


def message_key(session_id: str, message_id: str) -> Item:
    return to_item({A.PK: session_pk(session_id), A.SK: message_sk(message_id)})


def claim_key(session_id: str, tool_call_id: str) -> Item:
    return to_item({A.PK: session_pk(session_id), A.SK: claim_sk(tool_call_id)})


def record_key(session_id: str, started_at: int, tool_call_id: str) -> Item:
    return to_item({A.PK: session_pk(session_id), A.SK: record_sk(iso(started_at), tool_call_id)})


def message_item(message: Message, *, region: str) -> Item:
    return to_item(
        {
            A.PK: session_pk(message.session_id),
            A.SK: message_sk(message.message_id),
            A.ENTITY: Entity.MESSAGE,
            A.CONTENT: payload_attribute(message.content),
            A.CONTENT_HASH: message.content_hash,
            A.APPENDED_AT: iso(message.appended_at),
            A.TTL: message.ttl,
            A.HOME_REGION: region,
            A.WRITE_REGION: region,
            A.UPDATED_BY: author_attribute(message.author),
        }
    )


def message_from(item: Item) -> Message:
    stored = from_item(item)
    return Message(
        session_id=session_id_of(stored),
        message_id=str(stored[A.SK]).removeprefix(CONTEXT_SK_PREFIX),
        content=payload_from(stored[A.CONTENT]),
        content_hash=stored[A.CONTENT_HASH],
        appended_at=from_iso(stored[A.APPENDED_AT]),
        ttl=stored[A.TTL],
        author=author_from(stored),
    )


def claim_item(claim: Claim, *, region: str) -> Item:
    return to_item(
        {
            A.PK: session_pk(claim.session_id),
            A.SK: claim_sk(claim.tool_call_id),
            A.ENTITY: Entity.TOOL_CLAIM,
            A.TOOL_CALL_ID: claim.tool_call_id,
            A.TOOL_NAME: claim.tool_name,
            **lease_attributes(claim),
            **open_input(claim),
            A.HOME_REGION: region,
            A.WRITE_REGION: region,
        }
    )


def claim_from(item: Item) -> Claim:
    stored = from_item(item)
    return Claim(
        session_id=session_id_of(stored),
        tool_call_id=stored[A.TOOL_CALL_ID],
        tool_name=stored[A.TOOL_NAME],
        input=open_input_from(stored),
        **lease_from(stored),
    )


def record_item(record: ToolCallRecord, *, region: str) -> Item:
    return to_item(
        {
            A.PK: session_pk(record.session_id),
            A.SK: record_sk(iso(record.started_at), record.tool_call_id),
            A.ENTITY: Entity.TOOL_RECORD,
            A.TOOL_CALL_ID: record.tool_call_id,
            A.TOOL_NAME: record.tool_name,
            A.CLAIM_STATUS: record.status,
            A.INPUT: payload_attribute(record.input),
            A.OUTPUT: payload_attribute(record.output),
            A.ERROR: payload_attribute(record.error),
            A.STARTED_AT: iso(record.started_at),
            A.COMPLETED_AT: iso(record.completed_at),
            A.DURATION_MS: record.duration_ms,
            A.FENCE: record.fence,
            A.TTL: record.ttl,
            A.HOME_REGION: region,
            A.WRITE_REGION: region,
            A.UPDATED_BY: author_attribute(record.author),
        }
    )


def record_from(item: Item) -> ToolCallRecord:
    stored = from_item(item)
    return ToolCallRecord(
        session_id=session_id_of(stored),
        tool_call_id=stored[A.TOOL_CALL_ID],
        tool_name=stored[A.TOOL_NAME],
        status=ClaimStatus(stored[A.CLAIM_STATUS]),
        input=payload_from(stored[A.INPUT]),
        output=payload_from(stored[A.OUTPUT]),
        error=payload_from(stored[A.ERROR]),
        started_at=from_iso(stored[A.STARTED_AT]),
        completed_at=from_iso(stored[A.COMPLETED_AT]),
        duration_ms=stored[A.DURATION_MS],
        fence=stored[A.FENCE],
        ttl=stored[A.TTL],
        author=author_from(stored),
    )
