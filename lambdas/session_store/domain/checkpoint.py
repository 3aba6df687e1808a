"""Checkpoints: what a run can go on from, one immutable item each."""

from typing import Final

from msgspec import Struct

from session_store.domain.fingerprints import fingerprint, present_members
from session_store.domain.identifiers import check_identifier
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author
from session_store.domain.times import seconds

SHORTEST_RETENTION: Final = 900
"""Seconds. When a checkpoint ends, its id is too old by then to be taken for a new one."""


class Checkpoint(Struct, frozen=True, kw_only=True):
    """``content_hash`` as ``content_hash_of`` makes it; ``taken_at`` in milliseconds.

    Between storage and use case ``data`` may be a ``StoredPayload`` that stands for it.
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
    """Empty, or as other identifiers.

    Raises:
        InvalidRequestError: names ``path``.
    """
    return value and check_identifier(value, path=path)


def content_hash_of(data: JsonValue, *, parent_id: str | None, retain_seconds: int | None) -> str:
    """Of all that a checkpoint was asked to be, its name apart."""
    return fingerprint(
        "checkpoint-content",
        present_members(
            {"data": data}, {"parentId": (parent_id, None), "retainSeconds": (retain_seconds, None)}
        ),
    )


def checkpoint_ttl(taken_at: int, *, retain_seconds: int | None, session_ends: int) -> int:
    """No checkpoint outlives what its session may live at the longest."""
    if retain_seconds is None:
        return session_ends
    return min(seconds(taken_at) + retain_seconds, session_ends)
