"""What a new checkpoint is made of."""

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.checkpoint import Checkpoint, checkpoint_ttl, content_hash_of
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Session, author_of
from session_store.services.births import Birth
from session_store.services.key_claims import session_claim


class NewCheckpoint(Struct, frozen=True, kw_only=True):
    """``checkpoint_id`` is a UUIDv7 that the caller chose, or None to have one minted.

    ``retain_seconds`` from ``SHORTEST_RETENTION`` on, or None: as long as the session may live.
    """

    data: JsonValue
    namespace: str = ""
    checkpoint_id: str | None = None
    parent_id: str | None = None
    retain_seconds: int | None = None


def born(caller: Caller, session: Session, new: NewCheckpoint, birth: Birth) -> Checkpoint:
    """The checkpoint that a birth makes of ``new``: the same whenever it is asked."""
    return Checkpoint(
        session_id=session.session_id,
        namespace=new.namespace,
        checkpoint_id=new.checkpoint_id or birth.operation_id,
        parent_id=new.parent_id,
        data=new.data,
        content_hash=content_hash_of(new.data, parent_id=new.parent_id, retain_seconds=new.retain_seconds),
        taken_at=birth.at,
        ttl=checkpoint_ttl(birth.at, retain_seconds=new.retain_seconds, session_ends=session.max_expires_at),
        author=author_of(caller),
    )


def checkpoint_claim(caller: Caller, new: NewCheckpoint, birth: Birth, *, key: str) -> KeyClaim:
    route = f"POST /sessions/{birth.session_id}/checkpoints"
    return session_claim(caller, birth, route=route, key=key, made_of=asked(new))


def asked(new: NewCheckpoint) -> JsonValue:
    """What the body means: a default that is spelled out is no other request."""
    return [new.namespace, new.checkpoint_id, new.parent_id, new.retain_seconds, new.data]
