"""Request bodies about the messages of a session's context."""

from typing import Annotated, Any

import msgspec

from session_api.bodies import Body
from session_store.domain.message import MAX_BATCH
from session_store.services.context import NewMessage


class NewMessageBody(Body, frozen=True):
    """A message to append."""

    content: Any
    """Any JSON value."""

    message_id: str | None = None
    """A UUIDv7 in lower case, its time within 5 minutes of now; minted where absent. Makes a retry safe."""

    def to_domain(self) -> NewMessage:
        return NewMessage(content=self.content, message_id=self.message_id)


class AppendMessages(Body, frozen=True):
    """The messages to append, in their order."""

    messages: Annotated[list[NewMessageBody], msgspec.Meta(min_length=1, max_length=MAX_BATCH)]
    """Up to 1 MiB of JSON in all."""

    atomic: bool = False
    """Whether either all messages are stored or none is."""

    def to_domain(self) -> list[NewMessage]:
        return [message.to_domain() for message in self.messages]
