"""Context messages in memory."""

from collections.abc import Sequence
from dataclasses import dataclass

from session_store.domain.message import Message
from session_store.domain.page import (
    MessagePosition,
    Page,
    PageRequest,
)
from session_store.domain.times import is_expired
from session_store.storage.memory.pages import (
    by_message_id,
    message_position,
    message_size,
    paged,
)
from session_store.storage.memory.state import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMessages:
    memory: Memory

    def put(self, message: Message) -> Message | None:
        return self.put_all([message], operation_id="").get(message.message_id)

    def put_all(self, messages: Sequence[Message], *, operation_id: str) -> dict[str, Message]:
        del operation_id
        with self.memory.lock:
            held: dict[str, Message] = {}
            for message in messages:
                existing = self._of(message.session_id).get(message.message_id)
                if existing is not None and not is_expired(existing.ttl, message.appended_at):
                    held[existing.message_id] = existing
            if not held:
                for message in messages:
                    self._of(message.session_id)[message.message_id] = message
            return held

    def _of(self, session_id: str) -> dict[str, Message]:
        return self.memory.messages.setdefault(session_id, {})

    def read_all(self, session_id: str, message_ids: Sequence[str]) -> dict[str, Message]:
        with self.memory.lock:
            messages = self._of(session_id)
            return {wanted: messages[wanted] for wanted in message_ids if wanted in messages}

    def page(self, session_id: str, page: PageRequest[MessagePosition]) -> Page[Message, MessagePosition]:
        with self.memory.lock:
            messages = list(self._of(session_id).values())
        return paged(messages, page, place=message_position, order=by_message_id, size=message_size)
