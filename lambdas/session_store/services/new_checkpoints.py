"""A new checkpoint as it is requested, and how it is built."""

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.checkpoint import Checkpoint, checkpoint_ttl, content_hash_of
from session_store.domain.fingerprints import Members, present_members
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Session, author_of


class NewCheckpoint(Struct, frozen=True, kw_only=True):
    """``checkpoint_id``: a UUIDv7 chosen by the caller; None to have one minted.

    ``retain_seconds``: ``SHORTEST_RETENTION`` at least; None for as long as the session can live.
    """

    data: JsonValue
    namespace: str = ""
    checkpoint_id: str | None = None
    parent_id: str | None = None
    retain_seconds: int | None = None

    @property
    def members(self) -> Members:
        """The checkpoint as a fingerprint covers it; a default spelled out makes no difference."""
        return present_members(
            {"data": self.data},
            {
                "namespace": (self.namespace, ""),
                "checkpointId": (self.checkpoint_id, None),
                "parentId": (self.parent_id, None),
                "retainSeconds": (self.retain_seconds, None),
            },
        )


def build_checkpoint(
    caller: Caller, session: Session, new: NewCheckpoint, *, checkpoint_id: str, at: int
) -> Checkpoint:
    """Build the checkpoint as of ``at`` (ms). The same arguments always give the same checkpoint."""
    return Checkpoint(
        session_id=session.session_id,
        namespace=new.namespace,
        checkpoint_id=checkpoint_id,
        parent_id=new.parent_id,
        data=new.data,
        content_hash=content_hash_of(new.data, parent_id=new.parent_id, retain_seconds=new.retain_seconds),
        taken_at=at,
        ttl=checkpoint_ttl(at, retain_seconds=new.retain_seconds, max_expires_at=session.max_expires_at),
        author=author_of(caller),
    )
