"""The transcript of a session. Functions as in ``session_calls``."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from session_store_client.answers import AppendedMessages, Message, Page
from session_store_client.calls import Call, Repeat, parameters, read, session_path
from session_store_client.message_ids import MessageIds

_IDS: Final = MessageIds()


def append_messages(
    session_id: str,
    contents: Sequence[Any],
    *,
    message_ids: Sequence[str] | None = None,
    atomic: bool = False,
) -> Call[AppendedMessages]:
    """Append 1 to 25 messages to the transcript, each stored once.

    ``contents``: any JSON values, at most 1 MiB together. ``message_ids``: a UUIDv7 for each of them, its
    time within five minutes of the store's clock; minted here when not given. ``atomic``: store all that are
    new, or none; otherwise one conflicting message leaves the others stored.

    Retried with the same ids, so a lost response appends nothing twice. A second call with ids of your own
    is safe to repeat too, also from another process; without them it appends again.

    Raises:
        SessionNotFoundError: there is none, it has expired, or it belongs to another caller.
        SessionClosedError: it is closing or closed, and takes no new messages.
        ContentConflictError: an id is taken by other content.
        PayloadTooLargeError: a message or all of them exceed the limit.
        OutcomeUnknownError: messages may have been stored; for instance the session was closed after a lost
            response.
        ValueError: a content is not a JSON value, or the numbers of contents and ids differ.
    """
    ids = [_IDS.mint() for _ in contents] if message_ids is None else message_ids
    messages = [
        {"messageId": message_id, "content": content}
        for message_id, content in zip(ids, contents, strict=True)
    ]
    return Call(
        method="POST",
        path=f"{session_path(session_id)}/context",
        answer=AppendedMessages,
        body={"messages": messages, "atomic": atomic},
        repeat=Repeat.RECOGNISED_APPEND,
    )


def list_messages(
    session_id: str,
    *,
    order: Literal["asc", "desc"] = "asc",
    min_version: int | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Message]]:
    """List the transcript in the order of its message ids, which is the order of their times.

    ``limit``: messages a page, 1 to 100 (default 20). Safe to repeat.

    Raises:
        SessionNotFoundError: as in ``append_messages``.
        PayloadMissingError: a large message cannot be read back as it was stored.
    """
    query = parameters(order=order, limit=limit, cursor=cursor)
    return read(f"{session_path(session_id)}/context", Page[Message], query=query, min_version=min_version)
