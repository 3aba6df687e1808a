"""The body of a request that adds a checkpoint."""

from typing import Annotated, Any

import msgspec

from session_api.bodies import Body
from session_store.domain.checkpoint import SHORTEST_RETENTION
from session_store.domain.identifiers import MAX_IDENTIFIER
from session_store.domain.window import LONGEST_LIFE
from session_store.services.new_checkpoints import NewCheckpoint


class AddCheckpoint(Body, frozen=True):
    """``retainSeconds``: ends sooner than its session may. Without it, with its session."""

    data: Any
    namespace: Annotated[str, msgspec.Meta(max_length=MAX_IDENTIFIER)] = ""
    checkpoint_id: str | None = None
    parent_id: str | None = None
    retain_seconds: Annotated[int, msgspec.Meta(ge=SHORTEST_RETENTION, le=LONGEST_LIFE)] | None = None

    def to_domain(self) -> NewCheckpoint:
        return NewCheckpoint(
            data=self.data,
            namespace=self.namespace,
            checkpoint_id=self.checkpoint_id,
            parent_id=self.parent_id,
            retain_seconds=self.retain_seconds,
        )
