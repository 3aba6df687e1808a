"""Audit events as items of the audit table."""

from typing import Final

from session_store.domain.audit_event import AuditEvent
from session_store.domain.times import iso
from session_store.schema import Attribute, Entity, audit_event_sk, session_pk
from session_store.storage.codec import Item, to_item

A: Final = Attribute


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
