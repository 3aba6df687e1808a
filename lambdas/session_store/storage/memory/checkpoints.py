"""Checkpoints in memory."""

from dataclasses import dataclass

from session_store.domain.checkpoint import Checkpoint
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.page import CheckpointPosition, Page, PageRequest
from session_store.domain.payload import payload_size
from session_store.domain.times import is_expired
from session_store.schema import checkpoint_sk
from session_store.storage.memory.keys import held_key, other_operation
from session_store.storage.memory.pages import paged
from session_store.storage.memory.state import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCheckpoints:
    memory: Memory

    def put(self, checkpoint: Checkpoint) -> Checkpoint | None:
        key = checkpoint_sk(checkpoint.namespace, checkpoint.checkpoint_id)
        with self.memory.lock:
            existing = self._of(checkpoint.session_id).get(key)
            if existing is not None and not is_expired(existing.ttl, checkpoint.taken_at):
                return existing
            self._of(checkpoint.session_id)[key] = checkpoint
            return None

    def put_under_key(self, checkpoint: Checkpoint, claim: KeyClaim) -> KeyClaim | Checkpoint | None:
        with self.memory.lock:
            held = held_key(self.memory, claim)
            if held is not None:
                return other_operation(held, claim)
            existing = self.put(checkpoint)
            if existing is None:
                self.memory.keys[claim.key_hash] = claim
            return existing

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        with self.memory.lock:
            return self.memory.keys.get(key_hash)

    def read(self, session_id: str, namespace: str, checkpoint_id: str) -> Checkpoint | None:
        with self.memory.lock:
            return self._of(session_id).get(checkpoint_sk(namespace, checkpoint_id))

    def has(self, session_id: str, namespace: str, checkpoint_id: str, *, now_ms: int) -> bool:
        existing = self.read(session_id, namespace, checkpoint_id)
        return existing is not None and not is_expired(existing.ttl, now_ms)

    def page(
        self, session_id: str, namespace: str, page: PageRequest[CheckpointPosition]
    ) -> Page[Checkpoint, CheckpointPosition]:
        with self.memory.lock:
            checkpoints = [each for each in self._of(session_id).values() if each.namespace == namespace]
        return paged(checkpoints, page, place=_position, order=_order, size=_size)

    def _of(self, session_id: str) -> dict[str, Checkpoint]:
        """By sort key."""
        return self.memory.checkpoints.setdefault(session_id, {})


def _position(checkpoint: Checkpoint) -> CheckpointPosition:
    return CheckpointPosition(checkpoint_id=checkpoint.checkpoint_id)


def _order(position: CheckpointPosition) -> tuple[str]:
    return (position.checkpoint_id,)


def _size(checkpoint: Checkpoint) -> int:
    return payload_size(checkpoint.data)
