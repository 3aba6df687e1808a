"""Claims of idempotency keys in memory."""

from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.times import is_expired
from session_store.storage.memory.state import Memory


def held_key(memory: Memory, claim: KeyClaim) -> KeyClaim | None:
    """The unexpired claim that holds the key of ``claim``; it may be that claim itself."""
    held = memory.keys.get(claim.key_hash)
    return None if held is None or is_expired(held.ttl, claim.started_at) else held


def other_operation(held: KeyClaim | None, claim: KeyClaim) -> KeyClaim | None:
    """The claim that holds the key, if another operation wrote it."""
    return None if held is None or held.operation_id == claim.operation_id else held
