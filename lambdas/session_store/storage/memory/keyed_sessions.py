"""Session writes under idempotency keys in memory."""

from dataclasses import dataclass

from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.session import Session
from session_store.domain.session_write import SessionWrite
from session_store.ports import SessionStorage
from session_store.storage.memory.keys import held_key, other_operation
from session_store.storage.memory.state import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryKeyedSessions:
    """Session writes under keys; ``sessions``, over the same memory, does the writes."""

    memory: Memory
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
