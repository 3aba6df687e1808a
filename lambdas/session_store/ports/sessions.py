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
        """Store the session. Its id is new, so an existing item is its own, from a lost response."""
        ...

    def read(self, session_id: str) -> Session | None:
        """Read the session consistently, of any owner, expired or not."""
        ...

    def write(self, write: SessionWrite) -> Session:
        """Write the session; returns it as it is after this write, or after its earlier attempt.

        Raises:
            StoreError: the clause of the guard that does not hold (``domain.session_write.violation``).
            PayloadTooLargeError: the item would exceed DynamoDB's 400 KB; nothing was written.
        """
        ...

    def slide(self, slide: Slide) -> Session | None:
        """Slide the session; returns it after this slide or a later one. None if it has ended."""
        ...

    def mark_warned(self, mark: ExpiryMark) -> bool:
        """Mark the session as warned. False if it has ended, has another expiration or was marked before."""
        ...

    def delete(self, session_id: str, guard: Guard, event: AuditEvent) -> None:
        """Delete the metadata and write the event, both or neither.

        Raises:
            StoreError: the clause of the guard that does not hold.
        """
        ...

    def page_owned(
        self, owner: Owner, *, status: Status | None, now_ms: int, page: PageRequest[OwnedPosition]
    ) -> Page[SessionSummary, OwnedPosition]:
        """List live sessions of an owner by creation, eventually consistently."""
        ...

    def page_expiring(
        self, status: Status, *, now_ms: int, until: int, page: PageRequest[ExpiringPosition]
    ) -> Page[ExpiringSession, ExpiringPosition]:
        """List live sessions of any owner that end by ``until`` (epoch seconds), soonest first.

        Eventually consistent.
        """
        ...

    def count_living(self, status: Status, *, region: str, now_ms: int) -> Iterator[int]:
        """Count the live sessions of a status at home in a region, in parts that add up.

        Parts are read lazily. Eventually consistent.
        """
        ...


class KeyedSessionStorage(Protocol):
    """Writes of sessions together with the claim of an idempotency key: both or neither.

    Each returns None when this operation was written, by this request or an earlier attempt. Otherwise it
    returns the claim that holds the key, whether or not its session still exists.
    """

    def create(self, session: Session, claim: KeyClaim) -> KeyClaim | None:
        """Store a new session and the claim."""
        ...

    def write(self, write: SessionWrite, claim: KeyClaim) -> KeyClaim | None:
        """Write a session and the claim. A transaction returns no values, so the session is not returned.

        Raises:
            StoreError: the key is free, and a clause of the guard does not hold.
            PayloadTooLargeError: the item would exceed DynamoDB's 400 KB; nothing was written.
        """
        ...
