"""Context messages: the transcript of a session, one immutable item each."""

from typing import Final

from msgspec import Struct

from session_store.domain.identifiers import message_time
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author
from session_store.errors import InvalidRequestError

CLOCK_TOLERANCE_MS: Final = 5 * 60 * 1000
MAX_BATCH: Final = 25


class Message(Struct, frozen=True, kw_only=True):
    """A message. ``content_hash`` is the SHA-256 of the canonical JSON of ``content``, in hex.

    Between storage and use case, ``content`` may be a ``StoredPayload`` in place of the value.
    """

    session_id: str
    message_id: str
    content: JsonValue
    content_hash: str
    appended_at: int
    ttl: int
    author: Author


def is_off_clock(message_id: str, now_ms: int) -> bool:
    """Whether the time in the id is more than five minutes off, which would sort the message wrongly."""
    return abs(message_time(message_id) - now_ms) > CLOCK_TOLERANCE_MS


def check_on_clock(message_id: str, now_ms: int, *, path: str) -> None:
    """Pass if the id may be given to something new.

    Raises:
        InvalidRequestError: the time in the id is more than five minutes off; names ``path``.
    """
    if is_off_clock(message_id, now_ms):
        detail = f"The time in a new id must be within {CLOCK_TOLERANCE_MS // 1000} s of now"
        raise InvalidRequestError(detail, path=path)
