"""The child items of an ended session in memory."""

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from session_store.domain.erasure import Erasure
from session_store.schema import claim_sk, message_sk, record_sk
from session_store.storage.memory.state import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChildren:
    memory: Memory

    def first(self, session_id: str, *, limit: int) -> Sequence[str]:
        with self.memory.lock:
            return list(islice(sorted(sk for sk, *_ in self._of(session_id)), limit))

    def erase(self, session_id: str, sks: Sequence[str]) -> None:
        with self.memory.lock:
            wanted = set(sks)
            for sk, holder, key in list(self._of(session_id)):
                if sk in wanted:
                    del holder[key]

    def _of(self, session_id: str) -> Iterator[tuple[str, MutableMapping[Any, Any], Any]]:
        """Each child: its sort key, the map that holds it, and its key in that map."""
        messages = self.memory.messages.get(session_id, {})
        records = self.memory.records.get(session_id, {})
        yield from ((message_sk(key), messages, key) for key in messages)
        checkpoints = self.memory.checkpoints.get(session_id, {})
        yield from ((sk, checkpoints, sk) for sk in checkpoints)
        yield from ((record_sk(*key), records, key) for key in records)
        yield from (
            (claim_sk(key[1]), self.memory.claims, key) for key in self.memory.claims if key[0] == session_id
        )

    def read_erasure(self, session_id: str) -> Erasure:
        with self.memory.lock:
            return self.memory.erasures.get(session_id, Erasure())

    def advance(self, session_id: str, before: Erasure, after: Erasure, *, ttl: int) -> Erasure:
        del ttl
        with self.memory.lock:
            current = self.read_erasure(session_id)
            if current.up_to == before.up_to:
                self.memory.erasures[session_id] = current = after
            return current
