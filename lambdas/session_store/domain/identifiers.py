"""Identifiers: those that the store mints, and those that callers choose."""

import base64
import hashlib
import re
import threading
import uuid
from collections.abc import Callable
from typing import Final

from session_store.domain.json_values import encode
from session_store.errors import InvalidRequestError

SESSION_RANDOM_BYTES: Final = 20
MAX_IDENTIFIER: Final = 128
MAX_TOOL_CALL_ID: Final = 256
LAST_MS: Final = 2**48 - 1
"""The last millisecond that a UUIDv7 can carry."""

SESSION_ID_PATTERN: Final = r"^[a-z]{2,10}[0-9]{1,2}-[a-z2-7]{32}$"
IDENTIFIER_PATTERN: Final = r"^(?!\.{1,2}$)[\x21-\x7e]+$"
MESSAGE_ID_PATTERN: Final = r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"

# fullmatch, because ``$`` alone allows a line feed after it.
_SESSION_ID: Final = re.compile(SESSION_ID_PATTERN).fullmatch
_IDENTIFIER: Final = re.compile(IDENTIFIER_PATTERN).fullmatch
_MESSAGE_ID: Final = re.compile(MESSAGE_ID_PATTERN).fullmatch
_REGION: Final = re.compile(r"([a-z]+)((?:-[a-z]+)+)-([0-9]+)").fullmatch
_DIRECTION: Final = re.compile("north|south|central|east|west")

RandomBytes = Callable[[int], bytes]


def region_code(region: str) -> str:
    """A short code, unique among AWS's regions: ``use1`` for ``us-east-1``, ``apne1`` for ``ap-northeast-1``.

    Raises:
        ValueError: ``region`` does not have the form of a region's name.
    """
    match = _REGION(region)
    if match is None:
        message = f"{region!r} is not the name of an AWS region"
        raise ValueError(message)
    area, words, number = match.groups()
    return area + _DIRECTION.sub(lambda word: word[0][0], words.replace("-", "")) + number


def mint_session_id(*, region: str, random_bytes: RandomBytes) -> str:
    """A new session id: the minting region's code and 160 random bits."""
    random = base64.b32encode(random_bytes(SESSION_RANDOM_BYTES)).decode().lower()
    return f"{region_code(region)}-{random}"


def mint_task_id(*, region: str, random_bytes: RandomBytes) -> str:
    """A new task id, in the form of a session id."""
    return mint_session_id(region=region, random_bytes=random_bytes)


def follower_id(parent: str, *origin: str | int) -> str:
    """The id of a task that is created with the work of ``parent``, a session or a task.

    The same origin gives the same id, so that repeated work creates no second task. The id is as hard to
    guess as the parent's.
    """
    random = hashlib.sha256(encode([parent, *origin])).digest()[:SESSION_RANDOM_BYTES]
    return f"{parent.partition('-')[0]}-{base64.b32encode(random).decode().lower()}"


def check_task_id(value: str) -> str:
    """The id, if it has the form of a task id.

    Raises:
        InvalidRequestError: it has not; names ``taskId``.
    """
    if not _SESSION_ID(value):
        raise InvalidRequestError("Not the form of a task id", path="taskId")
    return value


def check_session_id(value: str, *, path: str = "sessionId") -> str:
    """The id, if it has the form of a session id.

    Raises:
        InvalidRequestError: it has not; names ``path``.
    """
    if not _SESSION_ID(value):
        raise InvalidRequestError("Not the form of a session id", path=path)
    return value


def check_identifier(value: str, *, path: str, longest: int = MAX_IDENTIFIER) -> str:
    """The identifier, if it is 1..``longest`` printable ASCII characters without space, not ``.`` or ``..``.

    Nothing is trimmed.

    Raises:
        InvalidRequestError: names ``path``.
    """
    if len(value) > longest or not _IDENTIFIER(value):
        detail = f"Must be 1 to {longest} printable ASCII characters without spaces, and not . or .."
        raise InvalidRequestError(detail, path=path)
    return value


def check_message_id(value: str, *, path: str) -> str:
    """The id, if it is a UUIDv7 in lower case with dashes: then key order is time order.

    Raises:
        InvalidRequestError: names ``path``.
    """
    if not _MESSAGE_ID(value):
        raise InvalidRequestError("Must be a UUIDv7 in lower case (RFC 9562, 5.7)", path=path)
    return value


def message_time(message_id: str) -> int:
    """The milliseconds since the epoch that a UUIDv7 carries in its first 48 bits."""
    return int(message_id.replace("-", "")[:12], 16)


class MessageIds:
    """Mints UUIDv7s that rise strictly within the process (RFC 9562, 6.2, method 1).

    Twelve bits count within a millisecond. When they run out, or the clock steps back, the last timestamp
    is counted up instead.
    """

    COUNTER_BITS = 12

    def __init__(self, *, random_bytes: RandomBytes) -> None:
        self._random_bytes = random_bytes
        self._last = 0
        self._lock = threading.Lock()

    def mint(self, now_ms: int, *, after: str | None = None) -> str:
        """A new id, later than ``after``, which may be of a clock that is ahead: then a millisecond later.

        Ids that are minted afterwards do not depend on ``after``.
        """
        with self._lock:
            self._last = max(self._last + 1, now_ms << self.COUNTER_BITS)
            at_ms, count = divmod(self._last, 1 << self.COUNTER_BITS)
        random = int.from_bytes(self._random_bytes(8)) & ((1 << 62) - 1)
        minted = _uuid7(at_ms, count, random)
        if after is None or minted > after:
            return minted
        return _uuid7(min(message_time(after) + 1, LAST_MS), count, random)


def _uuid7(at_ms: int, count: int, random: int) -> str:
    return str(uuid.UUID(int=at_ms << 80 | 7 << 76 | count << 64 | 2 << 62 | random))
