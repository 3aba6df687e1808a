"""Response bodies about checkpoints."""

from typing import Any

from session_api.answers import Answer, iso_of_seconds
from session_store.domain.checkpoint import Checkpoint
from session_store.domain.times import iso


class CheckpointAnswer(Answer, frozen=True):
    """An immutable checkpoint that a run can resume from."""

    checkpoint_id: str
    """A UUIDv7, unique within its session and namespace. The order of ids is the order of checkpoints."""

    namespace: str
    """The namespace within the session; empty by default."""

    parent_id: str | None
    """The checkpoint of the same namespace that this one follows, if any."""

    data: Any
    """Any JSON value, as it was stored."""

    created_at: str
    """When the checkpoint was stored."""

    expires_at: str
    """When the checkpoint expires: with its session at the latest."""


class CheckpointPage(Answer, frozen=True):
    """A page of the checkpoints of one namespace, in the order of their ids."""

    items: list[CheckpointAnswer]
    """Possibly fewer than the limit, also before the last page."""

    next_cursor: str | None
    """The `cursor` of the next page; null at the end of the list."""


def checkpoint_answer(checkpoint: Checkpoint) -> CheckpointAnswer:
    return CheckpointAnswer(
        checkpoint_id=checkpoint.checkpoint_id,
        namespace=checkpoint.namespace,
        parent_id=checkpoint.parent_id,
        data=checkpoint.data,
        created_at=iso(checkpoint.taken_at),
        expires_at=iso_of_seconds(checkpoint.ttl),
    )
