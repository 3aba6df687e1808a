"""Domain values as items of the table, and back.

Payloads that nothing changes in place (message contents, tool inputs and outcomes)
are kept as JSON text: one attribute, every digit as it came, and no cost for a
map's structure. A session's state is a map, for its keys are updated one by one.
"""

from collections.abc import Mapping
from typing import Any, Final

from session_store.domain.audit_event import AuditEvent
from session_store.domain.json_values import JsonValue, decode_stored, encode
from session_store.domain.message import Message
from session_store.domain.page import OwnedPosition
from session_store.domain.session import (
    Author,
    ExpiringSession,
    Owner,
    Session,
    SessionSummary,
    Status,
)
from session_store.domain.times import from_iso, iso
from session_store.domain.tool_call import Claim, ClaimStatus, ToolCallRecord
from session_store.schema import (
    SESSION_PK_PREFIX,
    SESSION_SK,
    Attribute,
    Entity,
    audit_event_sk,
    claim_sk,
    message_sk,
    record_sk,
    session_pk,
)
from session_store.storage.codec import Item, from_item, to_item

A: Final = Attribute
FNV_OFFSET: Final = 0x811C9DC5
FNV_PRIME: Final = 0x01000193

Attributes = Mapping[str, Any]


def fnv1a_32(text: str) -> int:
    """FNV-1a, 32 bits, of the UTF-8 bytes (draft-eastlake-fnv)."""
    result = FNV_OFFSET
    for byte in text.encode():
        result = (result ^ byte) * FNV_PRIME & 0xFFFFFFFF
    return result


def shard_of(session_id: str, shards: int) -> int:
    """Which shard of the status/ttl index a session lies in."""
    return fnv1a_32(session_id) % shards


def metadata_key(session_id: str) -> Item:
    return to_item({A.PK: session_pk(session_id), A.SK: SESSION_SK})


def message_key(session_id: str, message_id: str) -> Item:
    return to_item({A.PK: session_pk(session_id), A.SK: message_sk(message_id)})


def claim_key(session_id: str, tool_call_id: str) -> Item:
    return to_item({A.PK: session_pk(session_id), A.SK: claim_sk(tool_call_id)})


def record_key(session_id: str, started_at: int, tool_call_id: str) -> Item:
    return to_item({A.PK: session_pk(session_id), A.SK: record_sk(iso(started_at), tool_call_id)})


def session_id_of(item: Attributes) -> str:
    """Minted ids hold nothing that a key escapes."""
    return str(item[A.PK]).removeprefix(SESSION_PK_PREFIX)


def author_attribute(author: Author) -> dict[str, JsonValue]:
    return {A.ACTOR: author.principal, A.REQUEST_ID: author.request_id}


def author_from(stored: Attributes) -> Author:
    author = stored[A.UPDATED_BY]
    return Author(principal=author[A.ACTOR], request_id=author[A.REQUEST_ID])


def session_item(session: Session, *, shards: int) -> Item:
    return to_item(
        {
            A.PK: session_pk(session.session_id),
            A.SK: SESSION_SK,
            A.ENTITY: Entity.SESSION,
            A.STATUS: session.status,
            A.SHARD: shard_of(session.session_id, shards),
            A.VERSION: session.version,
            A.TENANT: session.owner.tenant,
            A.SUBJECT: session.owner.subject,
            A.CREATED_AT: iso(session.created_at),
            A.UPDATED_AT: iso(session.updated_at),
            A.TTL: session.ttl,
            A.SLIDE_AFTER: session.slide_after,
            A.IDLE_TIMEOUT: session.idle_timeout,
            A.MAX_EXPIRES_AT: session.max_expires_at,
            A.HOME_REGION: session.home_region,
            A.WRITE_REGION: session.write_region,
            A.UPDATED_BY: author_attribute(session.updated_by),
            A.LAST_WRITE: session.last_write,
            A.STATE: session.state,
            A.PROTOCOL: session.protocol,
            A.CREDENTIAL_REFS: list(session.credential_refs),
        }
    )


def session_from(item: Item) -> Session:
    stored = from_item(item)
    return Session(
        session_id=session_id_of(stored),
        owner=owner_from(stored),
        status=Status(stored[A.STATUS]),
        version=stored[A.VERSION],
        created_at=from_iso(stored[A.CREATED_AT]),
        updated_at=from_iso(stored[A.UPDATED_AT]),
        ttl=stored[A.TTL],
        slide_after=stored[A.SLIDE_AFTER],
        idle_timeout=stored[A.IDLE_TIMEOUT],
        max_expires_at=stored[A.MAX_EXPIRES_AT],
        home_region=stored[A.HOME_REGION],
        write_region=stored[A.WRITE_REGION],
        updated_by=author_from(stored),
        last_write=stored[A.LAST_WRITE],
        state=stored[A.STATE],
        protocol=stored[A.PROTOCOL],
        credential_refs=tuple(stored[A.CREDENTIAL_REFS]),
    )


def owner_from(stored: Attributes) -> Owner:
    return Owner(tenant=stored[A.TENANT], subject=stored[A.SUBJECT])


def summary_from(item: Item) -> SessionSummary:
    stored = from_item(item)
    return SessionSummary(
        session_id=session_id_of(stored),
        owner=owner_from(stored),
        status=Status(stored[A.STATUS]),
        created_at=from_iso(stored[A.CREATED_AT]),
        ttl=stored[A.TTL],
        idle_timeout=stored[A.IDLE_TIMEOUT],
        max_expires_at=stored[A.MAX_EXPIRES_AT],
        home_region=stored[A.HOME_REGION],
    )


def expiring_from(item: Item) -> ExpiringSession:
    stored = from_item(item)
    return ExpiringSession(
        session_id=session_id_of(stored),
        owner=owner_from(stored),
        status=Status(stored[A.STATUS]),
        ttl=stored[A.TTL],
        home_region=stored[A.HOME_REGION],
    )


def owned_position_from(key: Item) -> OwnedPosition:
    """Where the owner index stopped."""
    stored = from_item(key)
    return OwnedPosition(created_at=from_iso(stored[A.CREATED_AT]), session_id=session_id_of(stored))


def message_item(message: Message, *, region: str) -> Item:
    return to_item(
        {
            A.PK: session_pk(message.session_id),
            A.SK: message_sk(message.message_id),
            A.ENTITY: Entity.MESSAGE,
            A.CONTENT: encode(message.content).decode(),
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
        message_id=str(stored[A.SK]).partition("#")[2],
        content=decode_stored(stored[A.CONTENT]),
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
            A.TENANT: claim.owner.tenant,
            A.SUBJECT: claim.owner.subject,
            A.TOOL_NAME: claim.tool_name,
            A.CLAIM_STATUS: claim.status,
            A.INPUT_HASH: claim.input_hash,
            A.OUTCOME_HASH: claim.outcome_hash,
            A.STARTED_AT: iso(claim.started_at),
            A.FENCE: claim.fence,
            A.LEASE_UNTIL_MS: claim.lease_until_ms,
            A.TTL: claim.ttl,
            A.HOME_REGION: region,
            A.WRITE_REGION: region,
            A.UPDATED_BY: author_attribute(claim.author),
        }
    )


def claim_from(item: Item) -> Claim:
    stored = from_item(item)
    return Claim(
        session_id=session_id_of(stored),
        tool_call_id=stored[A.TOOL_CALL_ID],
        owner=owner_from(stored),
        tool_name=stored[A.TOOL_NAME],
        status=ClaimStatus(stored[A.CLAIM_STATUS]),
        input_hash=stored[A.INPUT_HASH],
        outcome_hash=stored[A.OUTCOME_HASH],
        started_at=from_iso(stored[A.STARTED_AT]),
        fence=stored[A.FENCE],
        lease_until_ms=stored[A.LEASE_UNTIL_MS],
        ttl=stored[A.TTL],
        author=author_from(stored),
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
            A.INPUT: encode(record.input).decode(),
            A.OUTPUT: encode(record.output).decode(),
            A.ERROR: encode(record.error).decode(),
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
        input=decode_stored(stored[A.INPUT]),
        output=decode_stored(stored[A.OUTPUT]),
        error=decode_stored(stored[A.ERROR]),
        started_at=from_iso(stored[A.STARTED_AT]),
        completed_at=from_iso(stored[A.COMPLETED_AT]),
        duration_ms=stored[A.DURATION_MS],
        fence=stored[A.FENCE],
        ttl=stored[A.TTL],
        author=author_from(stored),
    )


def audit_event_item(event: AuditEvent) -> Item:
    at = iso(event.at)
    return to_item(
        {
            A.PK: session_pk(event.session_id),
            A.SK: audit_event_sk(at, event.event_name, event.operation_id),
            A.ENTITY: Entity.AUDIT_EVENT,
            A.KIND: "event",
            A.EVENT_NAME: event.event_name,
            A.AT: at,
            A.ACTOR: event.author.principal,
            A.REQUEST_ID: event.author.request_id,
            A.REGION: event.region,
            A.TTL: event.ttl,
        }
    )
