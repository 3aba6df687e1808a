"""The end of a session, by expiry or deletion."""

from enum import StrEnum

from msgspec import Struct

from session_store.domain.session import Owner
from session_store.domain.times import is_expired


class EndReason(StrEnum):
    EXPIRED = "expired"
    DELETED = "deleted"


def end_reason(*, by_service: bool, ttl: int, removed_at_ms: int) -> EndReason:
    """Expired if DynamoDB removed the item, or it was removed after its ttl: replicas lose the identity."""
    expired = by_service or is_expired(ttl, removed_at_ms)
    return EndReason.EXPIRED if expired else EndReason.DELETED


class SessionEnd(Struct, frozen=True, kw_only=True):
    """A session that has ended, with what its clean-up needs.

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
