"""The request body of a new checkpoint."""

from typing import Annotated, Any

import msgspec

from session_api.bodies import Body
from session_store.domain.checkpoint import SHORTEST_RETENTION
from session_store.domain.identifiers import MAX_IDENTIFIER
from session_store.domain.window import LONGEST_LIFE
from session_store.services.new_checkpoints import NewCheckpoint


class AddCheckpoint(Body, frozen=True):
    """A checkpoint to store."""

    data: Any
    """Any JSON value: what the run needs to resume."""

    namespace: Annotated[str, msgspec.Meta(max_length=MAX_IDENTIFIER)] = ""
    """Printable ASCII without spaces, or empty. Each namespace has its own newest checkpoint."""

    checkpoint_id: str | None = None
    """A UUIDv7 in lower case, its time within 5 minutes of now, later than the id of its parent; minted where
    absent. Makes a retry safe."""

    parent_id: str | None = None
    """A checkpoint of the same namespace that this one follows."""

    retain_seconds: Annotated[int, msgspec.Meta(ge=SHORTEST_RETENTION, le=LONGEST_LIFE)] | None = None
    """Seconds after which the checkpoint expires, if its session does not end before; absent: with it."""

    def to_domain(self) -> NewCheckpoint:
        return NewCheckpoint(
            data=self.data,
            namespace=self.namespace,
            checkpoint_id=self.checkpoint_id,
            parent_id=self.parent_id,
            retain_seconds=self.retain_seconds,
        )
