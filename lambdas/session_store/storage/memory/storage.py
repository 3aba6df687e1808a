"""The storage ports in memory, under the same conditions: for tests and for trying things out.

One lock makes each call as atomic as DynamoDB's. What is refused is refused by the
very functions that explain a refusal of DynamoDB.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from session_store.domain.audit_event import AuditChange, AuditEntry, AuditEvent
from session_store.domain.checkpoint import Checkpoint
from session_store.domain.erasure import Erasure
from session_store.domain.expiry_mark import ExpiryMark, admits_mark, apply_mark
from session_store.domain.free_claim import FreeClaim
from session_store.domain.heartbeat import Heartbeat
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.message import Message
from session_store.domain.page import (
    AuditPosition,
    ExpiringPosition,
    MessagePosition,
    OwnedPosition,
    Page,
    PageRequest,
)
from session_store.domain.session import ExpiringSession, Owner, Session, SessionSummary, Status
from session_store.domain.session_write import Guard, SessionWrite, already_done, apply_write, violation
from session_store.domain.slide import Slide, admits_slide, apply_slide
from session_store.domain.task import Task
from session_store.domain.times import is_expired
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.errors import PayloadTooLargeError, SessionNotFoundError
from session_store.ports import Storage
from session_store.schema import Attribute, session_pk
from session_store.storage.dynamodb.audit_items import audit_change_item, audit_entry_from, audit_event_item
from session_store.storage.dynamodb.codec import ITEM_LIMIT, item_size, to_attribute
from session_store.storage.dynamodb.session_items import session_item
from session_store.storage.memory.checkpoints import MemoryCheckpoints
from session_store.storage.memory.children import MemoryChildren
from session_store.storage.memory.claims import MemoryClaims, MemoryToolCalls
from session_store.storage.memory.keyed_sessions import MemoryKeyedSessions
from session_store.storage.memory.pages import (
    audit_position,
    by_creation,
    by_end,
    by_message_id,
    by_sk,
    expiring_of,
    expiring_position,
    message_position,
    message_size,
    owned_position,
    paged,
    summary_of,
)
from session_store.storage.memory.tasks import MemoryKeyedTasks, MemoryTasks


@dataclass(kw_only=True)
class Memory:
    """What the adapters share: everything there is, and the lock."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    sessions: dict[str, Session] = field(default_factory=dict)
    messages: dict[str, dict[str, Message]] = field(default_factory=dict)
    checkpoints: dict[str, dict[str, Checkpoint]] = field(default_factory=dict)
    """By session, then by sort key."""
    keys: dict[str, KeyClaim] = field(default_factory=dict)
    claims: dict[tuple[str, str], Claim] = field(default_factory=dict)
    free_claims: dict[str, FreeClaim] = field(default_factory=dict)
    records: dict[str, dict[tuple[str, str], ToolCallRecord]] = field(default_factory=dict)
    events: list[AuditEvent] = field(default_factory=list)
    changes: dict[tuple[str, str], AuditChange] = field(default_factory=dict)
    """By stream and sequence number."""
    erasures: dict[str, Erasure] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    heartbeats: dict[str, Heartbeat] = field(default_factory=dict)
    """By region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySessions:
    memory: Memory

    def create(self, session: Session) -> None:
        with self.memory.lock:
            self._keep(session)

    def read(self, session_id: str) -> Session | None:
        with self.memory.lock:
            return self.memory.sessions.get(session_id)

    def write(self, write: SessionWrite) -> Session:
        with self.memory.lock:
            session = self.read(write.session_id)
            if session is not None and already_done(session, write):
                return session
            error = violation(session, write.guard, write.change)
            if session is None or error is not None:
                raise error or SessionNotFoundError
            return self._keep(apply_write(session, write))

    def _keep(self, session: Session) -> Session:
        if item_size(session_item(session, shards=1)) > ITEM_LIMIT:
            raise PayloadTooLargeError("The item would pass DynamoDB's limit.", limit=ITEM_LIMIT)
        self.memory.sessions[session.session_id] = session
        return session

    def slide(self, slide: Slide) -> Session | None:
        with self.memory.lock:
            session = self.read(slide.session_id)
            if session is None or not admits_slide(session, slide):
                return session
            return self._keep(apply_slide(session, slide))

    def mark_warned(self, mark: ExpiryMark) -> bool:
        with self.memory.lock:
            session = self.read(mark.session_id)
            if session is None or not admits_mark(session, mark):
                return False
            self._keep(apply_mark(session, mark))
            return True

    def delete(self, session_id: str, guard: Guard, event: AuditEvent) -> None:
        with self.memory.lock:
            error = violation(self.read(session_id), guard)
            if error is not None:
                raise error
            del self.memory.sessions[session_id]
            self.memory.events.append(event)

    def page_owned(
        self, owner: Owner, *, status: Status | None, now_ms: int, page: PageRequest[OwnedPosition]
    ) -> Page[SessionSummary, OwnedPosition]:
        with self.memory.lock:
            owned = [
                summary_of(session)
                for session in self.memory.sessions.values()
                if session.owner == owner
                and status in (None, session.status)
                and not is_expired(session.ttl, now_ms)
            ]
        return paged(owned, page, place=owned_position, order=by_creation)

    def page_expiring(
        self, status: Status, *, now_ms: int, until: int, page: PageRequest[ExpiringPosition]
    ) -> Page[ExpiringSession, ExpiringPosition]:
        with self.memory.lock:
            ending = [
                expiring_of(session)
                for session in self.memory.sessions.values()
                if session.status == status and not is_expired(session.ttl, now_ms) and session.ttl <= until
            ]
        return paged(ending, page, place=expiring_position, order=by_end)

    def count_living(self, status: Status, *, region: str, now_ms: int) -> Iterator[int]:
        with self.memory.lock:
            yield sum(
                (session.status, session.home_region) == (status, region)
                and not is_expired(session.ttl, now_ms)
                for session in self.memory.sessions.values()
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMessages:
    memory: Memory

    def put(self, message: Message) -> Message | None:
        return self.put_all([message], operation_id="").get(message.message_id)

    def put_all(self, messages: Sequence[Message], *, operation_id: str) -> dict[str, Message]:
        del operation_id
        with self.memory.lock:
            held: dict[str, Message] = {}
            for message in messages:
                there = self._of(message.session_id).get(message.message_id)
                if there is not None and not is_expired(there.ttl, message.appended_at):
                    held[there.message_id] = there
            if not held:
                for message in messages:
                    self._of(message.session_id)[message.message_id] = message
            return held

    def _of(self, session_id: str) -> dict[str, Message]:
        return self.memory.messages.setdefault(session_id, {})

    def read_all(self, session_id: str, message_ids: Sequence[str]) -> dict[str, Message]:
        with self.memory.lock:
            messages = self._of(session_id)
            return {wanted: messages[wanted] for wanted in message_ids if wanted in messages}

    def page(self, session_id: str, page: PageRequest[MessagePosition]) -> Page[Message, MessagePosition]:
        with self.memory.lock:
            messages = list(self._of(session_id).values())
        return paged(messages, page, place=message_position, order=by_message_id, size=message_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAudit:
    memory: Memory

    def put_event(self, event: AuditEvent) -> AuditEntry | None:
        item = audit_event_item(event)
        with self.memory.lock:
            for there in map(audit_event_item, self.memory.events):
                if all(there[name] == item[name] for name in (Attribute.PK, Attribute.SK)):
                    return None if there == item else audit_entry_from(there)
            self.memory.events.append(event)
        return None

    def put(self, change: AuditChange) -> None:
        with self.memory.lock:
            self.memory.changes.setdefault((change.stream, change.sequence_number), change)

    def page(self, session_id: str, page: PageRequest[AuditPosition]) -> Page[AuditEntry, AuditPosition]:
        return self.page_of(session_pk(session_id), page)

    def page_of(self, pk: str, page: PageRequest[AuditPosition]) -> Page[AuditEntry, AuditPosition]:
        with self.memory.lock:
            items = [audit_event_item(event) for event in self.memory.events]
            items += [audit_change_item(change) for change in self.memory.changes.values()]
        trail = [item for item in items if item[Attribute.PK] == to_attribute(pk)]
        found = paged(trail, page, place=audit_position, order=by_sk, size=item_size)
        return Page(items=tuple(map(audit_entry_from, found.items)), next=found.next)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHeartbeats:
    memory: Memory

    def beat(self, heartbeat: Heartbeat) -> None:
        with self.memory.lock:
            self.memory.heartbeats[heartbeat.region] = heartbeat


def memory_storage() -> Storage:
    """An empty store."""
    memory = Memory()
    sessions = MemorySessions(memory=memory)
    tasks = MemoryTasks(memory=memory)
    return Storage(
        sessions=sessions,
        keyed_sessions=MemoryKeyedSessions(memory=memory, sessions=sessions),
        messages=MemoryMessages(memory=memory),
        checkpoints=MemoryCheckpoints(memory=memory),
        tool_calls=MemoryToolCalls(memory=memory, sessions=sessions),
        claims=MemoryClaims(memory=memory),
        tasks=tasks,
        keyed_tasks=MemoryKeyedTasks(memory=memory, tasks=tasks),
        audit=MemoryAudit(memory=memory),
        children=MemoryChildren(memory=memory),
        heartbeats=MemoryHeartbeats(memory=memory),
    )
