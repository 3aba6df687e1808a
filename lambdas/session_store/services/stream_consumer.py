"""Records of the table's stream: each audited once, and a session's end handed to the clean-up."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from session_store.domain.audit_event import AuditChange
from session_store.domain.differences import Exposure, differences
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author, Owner
from session_store.domain.session_end import EndReason, SessionEnd, end_reason
from session_store.domain.stream_record import EXPIRY_PRINCIPAL, StreamEvent, StreamRecord
from session_store.domain.times import from_iso, seconds
from session_store.errors import UnreadableRecordError
from session_store.ports import AuditStorage, CleanupQueue
from session_store.schema import SESSION_PK_PREFIX, Attribute, Entity

A: Final = Attribute
KEYS: Final = frozenset({A.PK, A.SK})
NAMES: Final = {
    Entity.SESSION: "Session",
    Entity.MESSAGE: "Message",
    Entity.CHECKPOINT: "Checkpoint",
    Entity.TOOL_CLAIM: "ToolClaim",
    Entity.TOOL_RECORD: "ToolRecord",
    Entity.FREE_CLAIM: "Claim",
    Entity.TASK: "Task",
}
REMOVAL_AUDITED: Final = frozenset({Entity.SESSION, Entity.TASK})
"""Items whose removal is audited by itself; that of child items is in their session's summary."""

NOT_AUDITED: Final = frozenset({Entity.KEY_CLAIM})
"""A key's claim is written in one transaction with the item it created or changed, which is audited."""

VERBS: Final = {
    StreamEvent.INSERT: "Created",
    StreamEvent.MODIFY: "Changed",
    StreamEvent.REMOVE: "Removed",
}


class StreamConsumer(Struct, frozen=True, kw_only=True):
    """Processes each record of the table's stream; processing one again changes nothing."""

    storage: AuditStorage
    cleanup: CleanupQueue
    exposure: Exposure
    region: str
    audit_retention: int
    """Seconds that an audit item is kept."""

    def consume(self, record: StreamRecord) -> None:
        """Audit the record and, where it is the end of a session, queue the clean-up.

        Only this region's own writes are audited here. Those of other regions are in this region's
        stream too, and are audited there. The removal of a child item is covered by its session's summary.

        Raises:
            UnreadableRecordError: not an item that this store writes.
        """
        entity = _entity(record.new or record.old)
        if entity in NOT_AUDITED or not self._is_ours(record) or _is_in_session_summary(record, entity):
            return
        try:
            end = self._end(record, entity)
            change = self._change(record, entity)
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableRecordError(
                f"an item without an attribute of its kind ({type(error).__name__})"
            ) from error
        self.storage.put(change)
        if end is not None:
            self.cleanup.send(end)

    def _is_ours(self, record: StreamRecord) -> bool:
        if record.event is StreamEvent.REMOVE:
            return record.old.get(A.HOME_REGION) == self.region
        return record.new.get(A.WRITE_REGION) == self.region

    def _end(self, record: StreamRecord, entity: Entity) -> SessionEnd | None:
        if record.event is not StreamEvent.REMOVE or entity is not Entity.SESSION:
            return None
        old = record.old
        return SessionEnd(
            session_id=record.pk.removeprefix(SESSION_PK_PREFIX),
            owner=Owner(tenant=old[A.TENANT], subject=old[A.SUBJECT]),
            reason=end_reason(by_service=record.by_service, ttl=old[A.TTL], removed_at_ms=record.at),
            status=old[A.STATUS],
            version=old[A.VERSION],
            created_at=from_iso(old[A.CREATED_AT]),
            ended_at=record.at,
            credential_refs=tuple(old.get(A.CREDENTIAL_REFS, ())),
        )

    def _change(self, record: StreamRecord, entity: Entity) -> AuditChange:
        expired = _expired(record)
        return AuditChange(
            pk=record.pk,
            sk=record.sk,
            event_name=NAMES[entity] + ("Expired" if expired else VERBS[record.event]),
            at=record.at,
            author=_author(record, expired=expired),
            region=self.region,
            stream=record.stream,
            sequence_number=record.sequence_number,
            changes=differences(_facts(record.old), _facts(record.new), exposure=self.exposure),
            ttl=seconds(record.at) + self.audit_retention,
        )


def _is_in_session_summary(record: StreamRecord, entity: Entity) -> bool:
    return record.event is StreamEvent.REMOVE and entity not in REMOVAL_AUDITED


def _expired(record: StreamRecord) -> bool:
    if record.event is not StreamEvent.REMOVE:
        return False
    reason = end_reason(by_service=record.by_service, ttl=record.old[A.TTL], removed_at_ms=record.at)
    return reason is EndReason.EXPIRED


def _entity(image: Mapping[str, JsonValue]) -> Entity:
    try:
        entity = Entity(image.get(A.ENTITY, ""))
    except ValueError as error:
        raise UnreadableRecordError("an item of a kind that this store does not write") from error
    if entity not in NAMES and entity not in NOT_AUDITED:
        raise UnreadableRecordError("an item of a kind that this table does not hold")
    return entity


def _author(record: StreamRecord, *, expired: bool) -> Author | None:
    """The author of the change; None for a deletion, whose own event names the author."""
    if expired:
        return Author(principal=EXPIRY_PRINCIPAL, request_id="")
    if record.event is StreamEvent.REMOVE:
        return None
    author: Mapping[str, Any] = record.new[A.UPDATED_BY]
    return Author(principal=author[A.ACTOR], request_id=author[A.REQUEST_ID])


def _facts(image: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in image.items() if name not in KEYS}
