"""Messages of a session's transcript."""

from typing import Any

from session_store_client.answers.base import Answer


class Message(Answer, frozen=True):
    message_id: str
    content: Any
    appended_at: str


class AppendedMessages(Answer, frozen=True):
    """The messages of one append, in the order in which they were passed."""

    items: tuple[Message, ...]
