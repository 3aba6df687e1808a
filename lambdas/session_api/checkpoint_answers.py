"""The bodies of answers about checkpoints."""

from typing import Any

from session_api.answers import Answer
from session_store.domain.checkpoint import Checkpoint
from session_store.domain.times import MILLIS, iso


class CheckpointAnswer(Answer, frozen=True):
    checkpoint_id: str
    namespace: str
    parent_id: str | None
    data: Any
    created_at: str
    expires_at: str


class CheckpointPage(Answer, frozen=True):
    items: list[CheckpointAnswer]
    next_cursor: str | None


def checkpoint_answer(checkpoint: Checkpoint) -> CheckpointAnswer:
    return CheckpointAnswer(
        checkpoint_id=checkpoint.checkpoint_id,
        namespace=checkpoint.namespace,
        parent_id=checkpoint.parent_id,
        data=checkpoint.data,
        created_at=iso(checkpoint.taken_at),
        expires_at=iso(checkpoint.ttl * MILLIS),
    )
