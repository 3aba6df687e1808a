"""The audit trail as items of the audit table, and back."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from session_store.domain.audit_event import AuditChange, AuditEntry, AuditEvent
from session_store.domain.differences import Difference, Operation
from session_store.domain.json_values import JsonValue, decode_stored, encode
from session_store.domain.times import from_iso, iso
from session_store.schema import Attribute, Entity, audit_change_sk, audit_event_sk
from session_store.storage.dynamodb.codec import Item, from_item, to_item

A: Final = Attribute
EVENT: Final = "event"
CHANGE: Final = "change"
STREAM_DIGITS: Final = 8
SIGNS: Final[Mapping[Operation, str]] = {Operation.ADDED: "+", Operation.REMOVED: "-", Operation.CHANGED: "*"}
MEANINGS: Final = {sign: operation for operation, sign in SIGNS.items()}


def audit_event_item(event: AuditEvent) -> Item:
    at = iso(event.at)
    facts: dict[str, JsonValue] = {A.FACTS: encode(event.facts).decode()} if event.facts else {}
    return to_item(
        {
            A.PK: event.pk,
            A.SK: audit_event_sk(at, event.event_name, event.operation_id),
            A.ENTITY: Entity.AUDIT_EVENT,
            A.KIND: EVENT,
            A.EVENT_NAME: event.event_name,
            A.AT: at,
            A.ACTOR: event.author.principal,
            A.REQUEST_ID: event.author.request_id,
            A.REGION: event.region,
            **facts,
            A.TTL: event.ttl,
        }
    )


def audit_change_item(change: AuditChange) -> Item:
    """The differences are JSON text: they are read whole, and a map cannot hold all of their keys."""
    at = iso(change.at)
    stream = hashlib.sha256(change.stream.encode()).hexdigest()[:STREAM_DIGITS]
    author = {} if change.author is None else _author(change.author.principal, change.author.request_id)
    return to_item(
        {
            A.PK: change.pk,
            A.SK: audit_change_sk(at, change.sequence_number, stream),
            A.ENTITY: Entity.AUDIT_CHANGE,
            A.KIND: CHANGE,
            A.EVENT_NAME: change.event_name,
            A.AT: at,
            **author,
            A.REGION: change.region,
            A.CHANGED_ITEM: change.sk,
            A.SEQUENCE_NUMBER: change.sequence_number,
            A.CHANGES: encode(_written(change.changes)).decode(),
            A.TTL: change.ttl,
        }
    )


def _author(principal: str, request_id: str) -> dict[str, JsonValue]:
    return {A.ACTOR: principal, A.REQUEST_ID: request_id}


def _written(changes: Sequence[Difference]) -> dict[str, JsonValue]:
    """The compact form ``{"+/state/b": 1, "-/state/c": 1, "*/version": [1, 2]}``, in path order.

    A new item is audited attribute by attribute; in a longer form a message of 1 KB would take two units.
    """
    return {f"{SIGNS[each.operation]}{each.path}": _values(each) for each in changes}


def _values(difference: Difference) -> JsonValue:
    match difference.operation:
        case Operation.ADDED:
            return difference.new
        case Operation.REMOVED:
            return difference.old
        case Operation.CHANGED:
            return [difference.old, difference.new]


def audit_entry_from(item: Item) -> AuditEntry:
    stored = from_item(item)
    changes = decode_stored(stored[A.CHANGES]) if A.CHANGES in stored else {}
    return AuditEntry(
        kind=stored[A.KIND],
        event_name=stored[A.EVENT_NAME],
        at=from_iso(stored[A.AT]),
        actor=stored.get(A.ACTOR),
        region=stored[A.REGION],
        sequence_number=stored.get(A.SEQUENCE_NUMBER),
        changes=_differences(changes),
        ttl=stored[A.TTL],
        facts=decode_stored(stored[A.FACTS]) if A.FACTS in stored else {},
    )


def _differences(written: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> tuple[Difference, ...]:
    if isinstance(written, Mapping):
        return tuple(_difference(signed, values) for signed, values in written.items())
    # The form before the compact one; such items remain for as long as the trail is retained.
    return tuple(
        Difference(
            operation=Operation(each["op"]), path=each["path"], old=each.get("old"), new=each.get("new")
        )
        for each in written
    )


def _difference(signed: str, values: Any) -> Difference:  # noqa: ANN401 - parsed JSON is any shape
    operation, path = MEANINGS[signed[0]], signed[1:]
    match operation:
        case Operation.ADDED:
            return Difference(operation=operation, path=path, new=values)
        case Operation.REMOVED:
            return Difference(operation=operation, path=path, old=values)
        case Operation.CHANGED:
            old, new = values
            return Difference(operation=operation, path=path, old=old, new=new)
