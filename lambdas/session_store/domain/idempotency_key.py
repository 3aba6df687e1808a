"""Idempotency keys: a write under a key is done once, for as long as what it created can live."""

import re
from typing import Final

from msgspec import Struct

from session_store.domain.claim import ClaimStatus
from session_store.domain.json_values import digest
from session_store.domain.session import Author, Owner
from session_store.domain.times import DAY_SECONDS, seconds
from session_store.domain.window import LONGEST_LIFE
from session_store.errors import InvalidRequestError

MAX_KEY: Final = 256
KEY_PATTERN: Final = r"^(?=.*[^ ])[\x20-\x7e]+$"
KEY_LIFE: Final = LONGEST_LIFE + DAY_SECONDS
"""Seconds that a key is remembered: longer than any session created under it can live."""

_KEY: Final = re.compile(KEY_PATTERN).fullmatch


class KeyClaim(Struct, frozen=True, kw_only=True):
    """The record that a key was used, written in the transaction of the work and so settled from the start.

    ``operation_id`` is the id of the write, ``target`` the id of what it created or changed.
    """

    key_hash: str
    owner: Owner
    status: ClaimStatus
    input_hash: str
    started_at: int
    ttl: int
    author: Author
    target: str
    operation_id: str
    region: str


def check_key(key: str) -> str:
    """The key, if it is 1 to 256 printable ASCII characters and not blank.

    Raises:
        InvalidRequestError: it is not; names the header.
    """
    if len(key) > MAX_KEY or not _KEY(key):
        detail = f"Must be 1 to {MAX_KEY} printable ASCII characters, and not blank"
        raise InvalidRequestError(detail, path="header Idempotency-Key")
    return key


def key_hash(owner: Owner, *, route: str, key: str) -> str:
    """The identity of a key: two callers, or two routes, never share one."""
    return digest([owner.tenant, owner.subject, route, key])


def key_ttl(now_ms: int) -> int:
    """Epoch second at which a key used now is forgotten."""
    return seconds(now_ms) + KEY_LIFE
