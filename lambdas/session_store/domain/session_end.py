"""The end of a session, and how expiry is told from deletion."""

from enum import StrEnum

from msgspec import Struct

from session_store.domain.session import Owner
from session_store.domain.times import is_expired


class EndReason(StrEnum):
    EXPIRED = "expired"
    DELETED = "deleted"


def end_reason(*, by_service: bool, ttl: int, removed_at_ms: int) -> EndReason:
    """Expiry is DynamoDB's own removal, or any after the item's time: replicas lose the identity."""
    expired = by_service or is_expired(ttl, removed_at_ms)
    return EndReason.EXPIRED if expired else EndReason.DELETED


class SessionEnd(Struct, frozen=True, kw_only=True):
    """What is left to do after a session: its children, its credentials, and the news of it.

    ``created_at`` and ``ended_at`` in milliseconds.
    """

    session_id: str
    owner: Owner
    reason: EndReason
    status: str
    version: int
    created_at: int
    ended_at: int
    credential_refs: tuple[str, ...]
