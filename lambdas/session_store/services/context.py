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
from session_store.domain.message import Message, check_on_clock, is_off_clock
from session_store.domain.page import MessagePosition, Page, PageRequest
from session_store.domain.session import WRITABLE, Session, author_of, check_writable
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
    """``message_id``: a UUIDv7 chosen by the caller; None to have one minted."""

    content: JsonValue
    message_id: str | None = None

    @property
    def members(self) -> Members:
        """The message as a fingerprint covers it."""
        return present_members({"content": self.content}, {"messageId": (self.message_id, None)})


class Appended(Struct, frozen=True, kw_only=True):
    """``created``: how many of the messages are new; the others were replayed."""

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
        """Append messages, each once per id.

        A message whose id exists with the same content is a replay and succeeds, whatever the session's
        status. Without ``atomic`` each message is stored independently: one that cannot be stored does not
        hold up the others.

        Raises:
            ContentConflictError: an id exists with other content.
            InvalidRequestError: a malformed or repeated id, or a new one more than five minutes off.
            SessionClosedError, SessionNotFoundError, PayloadTooLargeError
        """
        self.check(new)
        session = self.access.load_at_home(caller, session_id)
        now_ms = self.clock.now_ms()
        messages = self.build(caller, session, new, now_ms=now_ms)
        known = self._read_likely_replays(session, messages, new, now_ms)
        if atomic:
            refuse_conflicts(messages, known)
        missing = [message for message in messages if message.message_id not in known]
        met = self._put(MESSAGES.store(self.payloads, missing), atomic=atomic) if missing else {}
        existing = {**known, **met}
        refuse_conflicts(messages, existing)
        self.access.slide_quietly(caller, session)
        return Appended(
            messages=tuple(
                MESSAGES.with_given(existing.get(message.message_id, message), content=message.content)
                for message in messages
            ),
            created=len(messages) - len(existing),
        )

    def build(
        self, caller: Caller, session: Session, new: Sequence[NewMessage], *, now_ms: int
    ) -> list[Message]:
        """Build the messages, minting ids for those without one."""
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

    def _read_likely_replays(
        self, session: Session, messages: Sequence[Message], new: Sequence[NewMessage], now_ms: int
    ) -> dict[str, Message]:
        """Read those of the messages that can only be replays. Ordinarily none can, and nothing is read.

        Raises:
            InvalidRequestError, SessionClosedError: one that should be a replay is new.
        """
        closed = session.status not in WRITABLE
        likely = [
            message.message_id
            for message, request in zip(messages, new, strict=True)
            if request.message_id and (closed or is_off_clock(request.message_id, now_ms))
        ]
        known = self.storage.read_all(session.session_id, likely) if likely else {}
        if len(known) < len(messages):
            check_writable(session)
        check_times(messages, new, known, now_ms=now_ms)
        return known

    def _put(self, messages: Sequence[Message], *, atomic: bool) -> dict[str, Message]:
        if atomic and len(messages) > 1:
            return self._put_atomically(messages)
        existing = [self.storage.put(messages[0])] if len(messages) == 1 else self._put_each(messages)
        return {message.message_id: message for message in existing if message is not None}

    def _put_each(self, messages: Sequence[Message]) -> list[Message | None]:
        """Put each message independently, several at a time.

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
        """Put all messages that do not exist yet in one transaction, or none if one conflicts.

        Each refusal names existing messages, so every round has fewer left.
        """
        existing: dict[str, Message] = {}
        remaining = list(messages)
        while remaining:
            met = self.storage.put_all(remaining, operation_id=self.ids.operation_id())
            if not met:
                return existing
            refuse_conflicts(remaining, met)
            existing |= met
            remaining = [message for message in remaining if message.message_id not in existing]
        return existing

    def page(
        self,
        caller: Caller,
        session_id: str,
        page: PageRequest[MessagePosition],
        *,
        min_version: int = 0,
    ) -> Page[Message, MessagePosition]:
        """Read a page of messages in the order of their ids.

        Raises:
            SessionNotFoundError: the messages end with their session.
        """
        session = self.access.load(caller, session_id, min_version=min_version)
        result = self.storage.page(session_id, page)
        messages = MESSAGES.load(self.payloads, result.items, home=session.home_region)
        self.access.slide_quietly(caller, session)
        return replace(result, items=messages)

    def check(self, new: Sequence[NewMessage]) -> None:
        """Check what can be checked before anything is read.

        Raises:
            InvalidRequestError: a malformed or repeated id, or content nested too deep.
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
    """Check the times in the ids that the caller chose for messages that are not in ``known``.

    Raises:
        InvalidRequestError: one is more than five minutes off.
    """
    for position, (message, request) in enumerate(zip(messages, new, strict=True)):
        if request.message_id is not None and message.message_id not in known:
            check_on_clock(message.message_id, now_ms, path=f"$.messages[{position}].messageId")


def refuse_conflicts(messages: Sequence[Message], existing: Mapping[str, Message]) -> None:
    """Refuse messages whose ids exist with other content.

    Raises:
        ContentConflictError: names the ids.
    """
    conflicting = [
        message.message_id
        for message in messages
        if message.message_id in existing
        and existing[message.message_id].content_hash != message.content_hash
    ]
    if conflicting:
        raise ContentConflictError(messageIds=conflicting)
