"""Checkpoints of a session."""

from typing import Any

from session_store_client.answers.base import Answer


class Checkpoint(Answer, frozen=True):
    checkpoint_id: str
    namespace: str
    parent_id: str | None
    data: Any
    created_at: str
    expires_at: str
