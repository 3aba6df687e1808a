"""Checkpoints: saved states from which a run can resume, one immutable item each."""

from typing import Final

from msgspec import Struct

from session_store.domain.fingerprints import fingerprint, present_members
from session_store.domain.identifiers import check_identifier
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author
from session_store.domain.times import seconds
from session_store.errors import InvalidRequestError

SHORTEST_RETENTION: Final = 900
"""Seconds; longer than a new id may be old, so the id of an expired checkpoint cannot be used again."""


class Checkpoint(Struct, frozen=True, kw_only=True):
    """A checkpoint. ``content_hash`` comes from ``content_hash_of``; ``taken_at`` is in milliseconds.

    Between storage and use case, ``data`` may be a ``StoredPayload`` in place of the value.
    """

    session_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    data: JsonValue
    content_hash: str
    taken_at: int
    ttl: int
    author: Author


def check_namespace(value: str, *, path: str) -> str:
    """The namespace, which is empty or an identifier.

    Raises:
        InvalidRequestError: names ``path``.
    """
    return value and check_identifier(value, path=path)


def check_follows(checkpoint_id: str, parent_id: str | None, *, path: str) -> None:
    """Pass if a checkpoint with this id is newer than its parent: the order of checkpoints is that of ids.

    Raises:
        InvalidRequestError: names ``path``.
    """
    if parent_id is not None and checkpoint_id <= parent_id:
        raise InvalidRequestError("Must be later than the id of the parent", path=path)


def content_hash_of(data: JsonValue, *, parent_id: str | None, retain_seconds: int | None) -> str:
    """Of all that a checkpoint was asked to be, its name apart."""
    return fingerprint(
        "checkpoint-content",
        present_members(
            {"data": data}, {"parentId": (parent_id, None), "retainSeconds": (retain_seconds, None)}
        ),
    )


def checkpoint_ttl(taken_at: int, *, retain_seconds: int | None, max_expires_at: int) -> int:
    """Epoch second at which a checkpoint expires: never after the longest life of its session."""
    if retain_seconds is None:
        return max_expires_at
    return min(seconds(taken_at) + retain_seconds, max_expires_at)
