"""Checkpoints added under an idempotency key."""

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.checkpoint import Checkpoint
from session_store.domain.fingerprints import fingerprint
from session_store.domain.idempotency_key import KeyClaim
from session_store.ports import CheckpointStorage
from session_store.services.checkpoints import AddedCheckpoint, CheckpointDraft, Checkpoints, added_checkpoint
from session_store.services.key_claims import build_key_claim, check_same_request, unexpired
from session_store.services.new_checkpoints import NewCheckpoint, build_checkpoint
from session_store.services.payload_parts import CHECKPOINTS


class KeyedCheckpoints(Struct, frozen=True, kw_only=True):
    storage: CheckpointStorage
    checkpoints: Checkpoints

    def add(self, caller: Caller, session_id: str, new: NewCheckpoint, *, key: str) -> AddedCheckpoint:
        """``Checkpoints.add``, once per key. The key is scoped to the session.

        A replay returns the checkpoint as it was first added, even if it has expired since or the session
        is closed.

        Raises:
            IdempotencyMismatchError: the key was used for another checkpoint.
            ContentConflictError, InvalidRequestError, SessionClosedError, SessionNotFoundError,
            PayloadTooLargeError
        """
        draft = self.checkpoints.draft(caller, session_id, new)
        claim = self._claim(caller, draft, key)
        existing = self._put(draft, claim)
        if isinstance(existing, KeyClaim):
            added = _replayed(caller, draft, claim, existing)
        else:
            added = added_checkpoint(draft, existing)
        self.checkpoints.access.slide_quietly(caller, draft.session)
        return added

    def _claim(self, caller: Caller, draft: CheckpointDraft, key: str) -> KeyClaim:
        return build_key_claim(
            caller,
            route=f"POST /sessions/{draft.session.session_id}/checkpoints",
            key=key,
            input_hash=fingerprint("checkpoint", draft.new.members),
            target=draft.checkpoint.checkpoint_id,
            operation_id=self.checkpoints.ids.operation_id(),
            at=draft.checkpoint.taken_at,
            region=draft.session.home_region,
        )

    def _put(self, draft: CheckpointDraft, claim: KeyClaim) -> KeyClaim | Checkpoint | None:
        """None when the checkpoint was stored; else the key's claim or the checkpoint that has its id."""
        refusal = self.checkpoints.refusal(draft)
        # The object of a minted id would stay without a reference if the key turned out to be used.
        if refusal is not None or CHECKPOINTS.has_large(draft.checkpoint):
            used = unexpired(self.storage.read_claim(claim.key_hash), claim.started_at)
            if used is not None:
                return used
        if refusal is not None:
            return self.checkpoints.read_existing(draft, refusal)
        return self.storage.put_under_key(self.checkpoints.offload(draft), claim)


def _replayed(caller: Caller, draft: CheckpointDraft, claim: KeyClaim, held: KeyClaim) -> AddedCheckpoint:
    """The answer that was given when the key was first used."""
    check_same_request(held, claim)
    first = build_checkpoint(caller, draft.session, draft.new, checkpoint_id=held.target, at=held.started_at)
    return AddedCheckpoint(checkpoint=first, replayed=True, by_key=True)
