"""Response bodies about the messages of a session's context."""

from typing import Any

from session_api.answers import Answer
from session_store.domain.message import Message
from session_store.domain.times import iso


class MessageAnswer(Answer, frozen=True):
    """One immutable message of a session's transcript."""

    message_id: str
    """A UUIDv7, unique within the session. The order of ids is the order of the transcript."""

    content: Any
    """Any JSON value, as it was appended."""

    appended_at: str
    """When the message was first stored."""


class MessagePage(Answer, frozen=True):
    """A page of a session's messages, in the order of their ids."""

    items: list[MessageAnswer]
    """Possibly fewer than the limit, also before the last page."""

    next_cursor: str | None
    """The `cursor` of the next page; null at the end of the list."""


class AppendedMessages(Answer, frozen=True):
    """The messages of the request, as they are stored."""

    items: list[MessageAnswer]
    """In the order of the request; those that were stored before have their first `appendedAt`."""


def message_answer(message: Message) -> MessageAnswer:
    return MessageAnswer(
        message_id=message.message_id,
        content=message.content,
        appended_at=iso(message.appended_at),
    )
