"""Checkpoints taken under an idempotency key: once for ever, and answered again."""

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.checkpoint import Checkpoint
from session_store.domain.fingerprints import fingerprint
from session_store.domain.idempotency_key import KeyClaim
from session_store.ports import CheckpointStorage
from session_store.services.checkpoints import AddedCheckpoint, CheckpointDraft, Checkpoints, answer
from session_store.services.key_claims import build_key_claim, check_same_request, unexpired
from session_store.services.new_checkpoints import NewCheckpoint, build_checkpoint
from session_store.services.payload_parts import CHECKPOINTS


class KeyedCheckpoints(Struct, frozen=True, kw_only=True):
    storage: CheckpointStorage
    checkpoints: Checkpoints

    def add(self, caller: Caller, session_id: str, new: NewCheckpoint, *, key: str) -> AddedCheckpoint:
        """As ``Checkpoints.add``, once for a key of the session; a replay is the checkpoint as it was taken.

        So it is also when the checkpoint has ended, or the session is closed.

        Raises:
            IdempotencyMismatchError: the key was used for another checkpoint.
            ContentConflictError, InvalidRequestError, SessionClosedError, SessionNotFoundError,
            PayloadTooLargeError
        """
        draft = self.checkpoints.draft(caller, session_id, new)
        claim = self._claim(caller, draft, key)
        held = self._kept(draft, claim)
        added = _first(caller, draft, claim, held) if isinstance(held, KeyClaim) else answer(draft, held)
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

    def _kept(self, draft: CheckpointDraft, claim: KeyClaim) -> KeyClaim | Checkpoint | None:
        """None when the checkpoint is stored now; else what makes it a replay, or a conflict."""
        refusal = self.checkpoints.refusal(draft)
        # An object whose name this attempt mints would be nobody's, were the key found to be used only then.
        if refusal is not None or CHECKPOINTS.has_large(draft.checkpoint):
            used = unexpired(self.storage.read_claim(claim.key_hash), claim.started_at)
            if used is not None:
                return used
        if refusal is not None:
            return self.checkpoints.there(draft, refusal)
        return self.storage.put_under_key(self.checkpoints.stored(draft), claim)


def _first(caller: Caller, draft: CheckpointDraft, claim: KeyClaim, held: KeyClaim) -> AddedCheckpoint:
    """The answer that the key was given when it was used."""
    check_same_request(held, claim)
    first = build_checkpoint(caller, draft.session, draft.new, checkpoint_id=held.target, at=held.started_at)
    return AddedCheckpoint(checkpoint=first, replayed=True, by_key=True)
