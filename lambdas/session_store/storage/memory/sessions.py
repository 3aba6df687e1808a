"""Sessions in memory."""

from collections.abc import Iterator
from dataclasses import dataclass

from session_store.domain.audit_event import AuditEvent
from session_store.domain.expiry_mark import ExpiryMark, admits_mark, apply_mark
from session_store.domain.page import (
    ExpiringPosition,
    OwnedPosition,
    Page,
    PageRequest,
)
from session_store.domain.session import ExpiringSession, Owner, Session, SessionSummary, Status
from session_store.domain.session_write import Guard, SessionWrite, already_done, apply_write, violation
from session_store.domain.slide import Slide, admits_slide, apply_slide
from session_store.domain.times import is_expired
from session_store.errors import PayloadTooLargeError, SessionNotFoundError
from session_store.storage.dynamodb.codec import ITEM_LIMIT, item_size
from session_store.storage.dynamodb.session_items import session_item
from session_store.storage.memory.pages import (
    by_creation,
    by_end,
    expiring_of,
    expiring_position,
    owned_position,
    paged,
    summary_of,
)
from session_store.storage.memory.state import Memory


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
            raise PayloadTooLargeError("The item would exceed DynamoDB's limit.", limit=ITEM_LIMIT)
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
