"""Sessions, and writes of them under idempotency keys."""

from collections.abc import Iterator
from typing import Protocol

from session_store.domain.audit_event import AuditEvent
from session_store.domain.expiry_mark import ExpiryMark
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.page import (
    ExpiringPosition,
    OwnedPosition,
    Page,
    PageRequest,
)
from session_store.domain.session import ExpiringSession, Owner, Session, SessionSummary, Status
from session_store.domain.session_write import Guard, SessionWrite
from session_store.domain.slide import Slide


class SessionStorage(Protocol):
    def create(self, session: Session) -> None:
        """Put the session. Its id is new, so the only item it may meet is its own, of a lost answer."""
        ...

    def read(self, session_id: str) -> Session | None:
        """The session as it is now, read consistently, whoever asks and whether or not it is expired."""
        ...

    def write(self, write: SessionWrite) -> Session:
        """The session after the write, or after the same write done before.

        Raises:
            StoreError: the clause of the guard that does not hold (``domain.session_write.violation``).
            PayloadTooLargeError: the item would pass DynamoDB's 400 KB; nothing is changed.
        """
        ...

    def slide(self, slide: Slide) -> Session | None:
        """The session as the slide left it or as another use had left it; None if it is gone."""
        ...

    def mark_warned(self, mark: ExpiryMark) -> bool:
        """Whether the mark is set now by this call: not on a session that is gone, moved on or marked."""
        ...

    def delete(self, session_id: str, guard: Guard, event: AuditEvent) -> None:
        """Remove the metadata and write the event, both or neither.

        Raises:
            StoreError: the clause of the guard that does not hold.
        """
        ...

    def page_owned(
        self, owner: Owner, *, status: Status | None, now_ms: int, page: PageRequest[OwnedPosition]
    ) -> Page[SessionSummary, OwnedPosition]:
        """Live sessions of an owner by creation. Eventually consistent."""
        ...

    def page_expiring(
        self, status: Status, *, now_ms: int, until: int, page: PageRequest[ExpiringPosition]
    ) -> Page[ExpiringSession, ExpiringPosition]:
        """Live sessions of any owner that end by ``until`` (epoch seconds), soonest first.

        Eventually consistent.
        """
        ...

    def count_living(self, status: Status, *, region: str, now_ms: int) -> Iterator[int]:
        """How many live sessions of a status are at home in a region, in parts that add up.

        Each part is read as it is asked for. Eventually consistent.
        """
        ...


class KeyedSessionStorage(Protocol):
    """Writes of sessions together with the claim of an idempotency key: both, or neither.

    Each returns None when this very operation has been done, now or before, and else
    the claim that holds the key, whatever has become of its session.
    """

    def create(self, session: Session, claim: KeyClaim) -> KeyClaim | None: ...

    def write(self, write: SessionWrite, claim: KeyClaim) -> KeyClaim | None:
        """A transaction tells nothing of the session after it.

        Raises:
            StoreError: the key is free, and a clause of the guard does not hold.
            PayloadTooLargeError: the item would pass DynamoDB's 400 KB; nothing is changed.
        """
        ...
