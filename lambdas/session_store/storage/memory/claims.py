"""Claims of tool calls and free claims in memory."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from session_store.domain.claim import ClaimGuard, admits
from session_store.domain.free_claim import FreeClaim
from session_store.domain.message import Message
from session_store.domain.page import Page, PageRequest, RecordPosition
from session_store.domain.session_write import violation
from session_store.domain.settlement import CallSnapshot, Settlement
from session_store.domain.times import is_expired, iso
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.ports import Refused, SessionStorage
from session_store.schema import escape
from session_store.storage.memory.pages import by_start, paged, record_position, record_size
from session_store.storage.memory.state import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryToolCalls:
    """Claims and records of tool calls; ``sessions`` is over the same memory."""

    memory: Memory
    sessions: SessionStorage

    def put(self, claim: Claim, guard: ClaimGuard) -> Refused[Claim] | None:
        key = (claim.session_id, claim.tool_call_id)
        with self.memory.lock:
            held = self.memory.claims.get(key)
            if held != claim and not admits(held, guard):
                return Refused(held=held)
            self.memory.claims[key] = claim
            return None

    def settle(self, settlement: Settlement) -> bool:
        claim = settlement.claim
        with self.memory.lock:
            held = self.memory.claims.get((claim.session_id, claim.tool_call_id))
            if not admits(held, settlement.guard) or any(map(self._is_taken, settlement.messages)):
                return False
            if any(task.task_id in self.memory.tasks for task in settlement.tasks):
                return False
            if settlement.write is not None:
                self.sessions.write(settlement.write)
            if settlement.condition is not None:
                error = violation(self.memory.sessions.get(claim.session_id), settlement.condition)
                if error is not None:
                    raise error
            self.put(claim, settlement.guard)
            self.memory.events.append(settlement.event)
            messages = self.memory.messages.setdefault(claim.session_id, {})
            messages.update({message.message_id: message for message in settlement.messages})
            self.memory.tasks.update({task.task_id: task for task in settlement.tasks})
            if settlement.record is not None:
                self._of(claim.session_id)[_record_key(settlement.record)] = settlement.record
            return True

    def _is_taken(self, message: Message) -> bool:
        existing = self.memory.messages.get(message.session_id, {}).get(message.message_id)
        return existing is not None and not is_expired(existing.ttl, message.appended_at)

    def _of(self, session_id: str) -> dict[tuple[str, str], ToolCallRecord]:
        return self.memory.records.setdefault(session_id, {})

    def read_call(
        self, session_id: str, tool_call_id: str, *, message_ids: Sequence[str] = ()
    ) -> CallSnapshot:
        with self.memory.lock:
            messages = self.memory.messages.get(session_id, {})
            return CallSnapshot(
                session=self.memory.sessions.get(session_id),
                claim=self.memory.claims.get((session_id, tool_call_id)),
                messages={wanted: messages[wanted] for wanted in message_ids if wanted in messages},
            )

    def read_record(self, claim: Claim) -> ToolCallRecord | None:
        with self.memory.lock:
            return self._of(claim.session_id).get((iso(claim.started_at), claim.tool_call_id))

    def unsettled(self, session_id: str) -> Sequence[Claim]:
        with self.memory.lock:
            open_claims = [
                replace(claim, input=None)
                for claim in self.memory.claims.values()
                if claim.session_id == session_id and not claim.is_settled
            ]
        return sorted(open_claims, key=lambda claim: escape(claim.tool_call_id))

    def page(
        self, session_id: str, page: PageRequest[RecordPosition]
    ) -> Page[ToolCallRecord, RecordPosition]:
        with self.memory.lock:
            records = list(self._of(session_id).values())
        return paged(records, page, place=record_position, order=by_start, size=record_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryClaims:
    memory: Memory

    def put(self, claim: FreeClaim, guard: ClaimGuard) -> Refused[FreeClaim] | None:
        with self.memory.lock:
            held = self.read(claim.key_hash)
            if held != claim and not admits(held, guard):
                return Refused(held=held)
            self.memory.free_claims[claim.key_hash] = claim
            return None

    def read(self, key_hash: str) -> FreeClaim | None:
        with self.memory.lock:
            return self.memory.free_claims.get(key_hash)


def _record_key(record: ToolCallRecord) -> tuple[str, str]:
    return iso(record.started_at), record.tool_call_id
