"""Keyed writes of sessions in memory."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.session import Session
from session_store.domain.session_write import SessionWrite
from session_store.domain.times import is_expired
from session_store.ports import SessionStorage

if TYPE_CHECKING:
    from session_store.storage.memory.storage import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryKeyedSessions:
    """``sessions`` is over the same memory, and does what a key allows."""

    memory: "Memory"
    sessions: SessionStorage

    def create(self, session: Session, claim: KeyClaim) -> KeyClaim | None:
        with self.memory.lock:
            held = held_key(self.memory, claim)
            if held is None:
                self.sessions.create(session)
                self.memory.keys[claim.key_hash] = claim
            return other_operation(held, claim)

    def write(self, write: SessionWrite, claim: KeyClaim) -> KeyClaim | None:
        with self.memory.lock:
            held = held_key(self.memory, claim)
            if held is None:
                self.sessions.write(write)
                self.memory.keys[claim.key_hash] = claim
            return other_operation(held, claim)


def held_key(memory: "Memory", claim: KeyClaim) -> KeyClaim | None:
    """The claim that holds the key when ``claim`` is made, this very one among others."""
    held = memory.keys.get(claim.key_hash)
    return None if held is None or is_expired(held.ttl, claim.started_at) else held


def other_operation(held: KeyClaim | None, claim: KeyClaim) -> KeyClaim | None:
    return None if held is None or held.operation_id == claim.operation_id else held
