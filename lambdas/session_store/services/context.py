"""The transcript of a session."""

from collections.abc import Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.fingerprints import Members, present_members
from session_store.domain.identifiers import check_message_id
from session_store.domain.json_values import JsonValue, digest
from session_store.domain.message import Message, check_on_clock, off_clock
from session_store.domain.page import MessagePosition, Page, PageRequest
from session_store.domain.session import WRITABLE, Session, author_of, writable
from session_store.errors import (
    ContentConflictError,
    InvalidRequestError,
    OutcomeUnknownError,
)
from session_store.ports import Clock, Ids, MessageStorage
from session_store.services.access import SessionAccess
from session_store.services.payload_parts import MESSAGES
from session_store.services.payloads import LARGEST, Payloads

PARALLEL_PUTS: Final = 8


class NewMessage(Struct, frozen=True, kw_only=True):
    """``message_id`` is a UUIDv7 that the caller chose, or None to have one minted."""

    content: JsonValue
    message_id: str | None = None

    @property
    def members(self) -> Members:
        """The message as a fingerprint covers it."""
        return present_members({"content": self.content}, {"messageId": (self.message_id, None)})


class Appended(Struct, frozen=True, kw_only=True):
    """``created``: how many of the messages were not there before."""

    messages: tuple[Message, ...]
    created: int


class Context(Struct, frozen=True, kw_only=True):
    storage: MessageStorage
    access: SessionAccess
    payloads: Payloads
    clock: Clock
    ids: Ids

    def append(
        self, caller: Caller, session_id: str, new: Sequence[NewMessage], *, atomic: bool = False
    ) -> Appended:
        """Store the messages that are not there yet, each once for ever.

        A message whose id and content are already there is a replay and a success,
        whatever the session's status. Without ``atomic`` every message stands for
        itself: those that can be stored are, also beside one that cannot.

        Raises:
            ContentConflictError: an id is there with another content.
            InvalidRequestError: a malformed or repeated id, or a new one more than five minutes off.
            SessionClosedError, SessionNotFoundError, PayloadTooLargeError
        """
        self.check(new)
        session = self.access.load_at_home(caller, session_id)
        now_ms = self.clock.now_ms()
        messages = self.built(caller, session, new, now_ms=now_ms)
        known = self._known(session, messages, new, now_ms)
        if atomic:
            refuse_conflicts(messages, known)
        missing = [message for message in messages if message.message_id not in known]
        held = self._put(MESSAGES.stored(self.payloads, missing), atomic=atomic) if missing else {}
        found = {**known, **held}
        refuse_conflicts(messages, found)
        self.access.slide_quietly(caller, session)
        return Appended(
            messages=tuple(
                MESSAGES.as_given(found.get(message.message_id, message), content=message.content)
                for message in messages
            ),
            created=len(messages) - len(found),
        )

    def built(
        self, caller: Caller, session: Session, new: Sequence[NewMessage], *, now_ms: int
    ) -> list[Message]:
        """The messages as they are to be stored, with ids for those that have none."""
        return [self._message(caller, session, message, now_ms) for message in new]

    def _message(self, caller: Caller, session: Session, new: NewMessage, now_ms: int) -> Message:
        return Message(
            session_id=session.session_id,
            message_id=new.message_id or self.ids.message_id(now_ms),
            content=new.content,
            content_hash=digest(new.content),
            appended_at=now_ms,
            ttl=session.max_expires_at,
            author=author_of(caller),
        )

    def _known(
        self, session: Session, messages: Sequence[Message], new: Sequence[NewMessage], now_ms: int
    ) -> dict[str, Message]:
        """The messages that may only be replays, read; empty in the ordinary case, which reads none."""
        closed = session.status not in WRITABLE
        suspects = [
            message.message_id
            for message, given in zip(messages, new, strict=True)
            if given.message_id and (closed or off_clock(given.message_id, now_ms))
        ]
        known = self.storage.read_all(session.session_id, suspects) if suspects else {}
        if len(known) < len(messages):
            writable(session)
        check_times(messages, new, known, now_ms=now_ms)
        return known

    def _put(self, messages: Sequence[Message], *, atomic: bool) -> dict[str, Message]:
        if atomic and len(messages) > 1:
            return self._put_atomically(messages)
        held = [self.storage.put(messages[0])] if len(messages) == 1 else self._put_each(messages)
        return {message.message_id: message for message in held if message is not None}

    def _put_each(self, messages: Sequence[Message]) -> list[Message | None]:
        """Each message by itself, several at a time.

        Raises:
            OutcomeUnknownError: some are stored and some may not be.
        """
        with ThreadPoolExecutor(PARALLEL_PUTS) as pool:
            puts = [pool.submit(self.storage.put, message) for message in messages]
        errors = [error for put in puts if (error := put.exception()) is not None]
        unknown = any(isinstance(error, OutcomeUnknownError) for error in errors)
        if unknown or 0 < len(errors) < len(puts):
            raise OutcomeUnknownError from errors[0]
        return [put.result() for put in puts]

    def _put_atomically(self, messages: Sequence[Message]) -> dict[str, Message]:
        """All that are not there yet in one transaction; nothing if one of them conflicts.

        Each refusal names messages that are there, so the rest shrinks with each round.
        """
        found: dict[str, Message] = {}
        rest = list(messages)
        while rest:
            held = self.storage.put_all(rest, operation_id=self.ids.operation_id())
            if not held:
                return found
            refuse_conflicts(rest, held)
            found |= held
            rest = [message for message in rest if message.message_id not in found]
        return found

    def page(
        self,
        caller: Caller,
        session_id: str,
        page: PageRequest[MessagePosition],
        *,
        min_version: int = 0,
    ) -> Page[Message, MessagePosition]:
        """The messages in the order of their ids.

        Raises:
            SessionNotFoundError: with the session gone its messages are unreadable at once.
        """
        session = self.access.load(caller, session_id, min_version=min_version)
        found = self.storage.page(session_id, page)
        opened = MESSAGES.opened(self.payloads, found.items, home=session.home_region)
        self.access.slide_quietly(caller, session)
        return replace(found, items=opened)

    def check(self, new: Sequence[NewMessage]) -> None:
        """Judge what can be judged before anything is read.

        Raises:
            InvalidRequestError: a malformed or repeated id, or a content nested too deep.
            PayloadTooLargeError
        """
        seen: set[str] = set()
        size = 0
        for position, message in enumerate(new):
            path = f"$.messages[{position}]"
            size += self.payloads.check(message.content, path=f"{path}.content")
            if message.message_id is None:
                continue
            check_message_id(message.message_id, path=f"{path}.messageId")
            if message.message_id in seen:
                raise InvalidRequestError("Each id may be used once in a request", path=f"{path}.messageId")
            seen.add(message.message_id)
        self.payloads.check_size(size, path="$.messages", limit=LARGEST)


def check_times(
    messages: Sequence[Message], new: Sequence[NewMessage], known: Container[str], *, now_ms: int
) -> None:
    """Judge the ids that ``new`` chose for what is not ``known`` to be there.

    Raises:
        InvalidRequestError: one is of another time.
    """
    for position, (message, given) in enumerate(zip(messages, new, strict=True)):
        if given.message_id is not None and message.message_id not in known:
            check_on_clock(message.message_id, now_ms, path=f"$.messages[{position}].messageId")


def refuse_conflicts(messages: Sequence[Message], found: Mapping[str, Message]) -> None:
    """Raises:
    ContentConflictError: an id is there with another content.
    """
    conflicting = [
        message.message_id
        for message in messages
        if message.message_id in found and found[message.message_id].content_hash != message.content_hash
    ]
    if conflicting:
        raise ContentConflictError(messageIds=conflicting)
