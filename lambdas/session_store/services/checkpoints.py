"""Checkpoints of a session: immutable, and read back by id, by page or as the newest."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.checkpoint import (
    SHORTEST_RETENTION,
    Checkpoint,
    check_follows,
    check_namespace,
)
from session_store.domain.identifiers import check_message_id
from session_store.domain.message import check_on_clock
from session_store.domain.page import CheckpointPosition, Page, PageRequest
from session_store.domain.session import Session, check_writable
from session_store.domain.times import is_expired
from session_store.domain.whole_numbers import check_whole
from session_store.domain.window import LONGEST_LIFE
from session_store.errors import (
    ContentConflictError,
    InvalidRequestError,
    NotFoundError,
    SessionClosedError,
    StoreError,
)
from session_store.ports import CheckpointStorage, Clock, Ids
from session_store.services.access import SessionAccess
from session_store.services.new_checkpoints import NewCheckpoint, build_checkpoint
from session_store.services.payload_parts import CHECKPOINTS
from session_store.services.payloads import Payloads

MAX_PAGE: Final = 100
"""Checkpoints per page while expired ones are skipped on the way to the newest."""

CheckpointPage = Page[Checkpoint, CheckpointPosition]


class AddedCheckpoint(Struct, frozen=True, kw_only=True):
    """``by_key``: the replay was recognised by its idempotency key, so that the first answer is repeated."""

    checkpoint: Checkpoint
    replayed: bool
    by_key: bool = False


class CheckpointDraft(Struct, frozen=True, kw_only=True):
    """A checkpoint to be stored, with the request and the session it belongs to."""

    session: Session
    new: NewCheckpoint
    checkpoint: Checkpoint


class Checkpoints(Struct, frozen=True, kw_only=True):
    storage: CheckpointStorage
    access: SessionAccess
    payloads: Payloads
    clock: Clock
    ids: Ids

    def add(self, caller: Caller, session_id: str, new: NewCheckpoint) -> AddedCheckpoint:
        """Store a checkpoint, once per id.

        The same content under an existing id is a replay and succeeds, whatever the status of the session
        and whether or not the parent still exists.

        Raises:
            ContentConflictError: the id exists with other content.
            InvalidRequestError: malformed, an unknown parent, or a new id that is more than five minutes off
                or not later than its parent's.
            SessionClosedError, SessionNotFoundError, PayloadTooLargeError
        """
        draft = self.draft(caller, session_id, new)
        refusal = self.refusal(draft)
        existing = (
            self.storage.put(self.offload(draft)) if refusal is None else self.read_existing(draft, refusal)
        )
        added = added_checkpoint(draft, existing)
        self.access.slide_quietly(caller, draft.session)
        return added

    def draft(self, caller: Caller, session_id: str, new: NewCheckpoint) -> CheckpointDraft:
        """Check the request and build the checkpoint.

        Raises:
            InvalidRequestError, MisdirectedError, PayloadTooLargeError, SessionNotFoundError
        """
        self._check(new)
        session = self.access.load_at_home(caller, session_id)
        now_ms = self.clock.now_ms()
        checkpoint_id = new.checkpoint_id or self.ids.message_id(now_ms, after=new.parent_id)
        checkpoint = build_checkpoint(caller, session, new, checkpoint_id=checkpoint_id, at=now_ms)
        return CheckpointDraft(session=session, new=new, checkpoint=checkpoint)

    def refusal(self, draft: CheckpointDraft) -> StoreError | None:
        """The error that forbids storing it as a new checkpoint, if any. A replay succeeds all the same."""
        try:
            self._check_may_add(draft)
        except (InvalidRequestError, SessionClosedError) as error:
            return error
        return None

    def _check_may_add(self, draft: CheckpointDraft) -> None:
        session, new, now_ms = check_writable(draft.session), draft.new, draft.checkpoint.taken_at
        parent = new.parent_id
        if parent and not self.storage.has(session.session_id, new.namespace, parent, now_ms=now_ms):
            detail = "There is no such checkpoint in this namespace of the session"
            raise InvalidRequestError(detail, path="$.parentId")
        if new.checkpoint_id is not None:
            check_on_clock(new.checkpoint_id, now_ms, path="$.checkpointId")
            check_follows(new.checkpoint_id, parent, path="$.checkpointId")

    def read_existing(self, draft: CheckpointDraft, refusal: StoreError) -> Checkpoint:
        """Read the checkpoint that has the id the caller chose; where there is none, raise ``refusal``."""
        new = draft.new
        if new.checkpoint_id is None:
            raise refusal
        existing = self._read_unexpired(draft.session.session_id, new.namespace, new.checkpoint_id)
        if existing is None:
            raise refusal
        return existing

    def offload(self, draft: CheckpointDraft) -> Checkpoint:
        """Upload data that is too large for the item; returns the checkpoint as the item has it."""
        (checkpoint,) = CHECKPOINTS.store(self.payloads, (draft.checkpoint,))
        return checkpoint

    def get(
        self,
        caller: Caller,
        session_id: str,
        checkpoint_id: str,
        *,
        namespace: str = "",
        min_version: int = 0,
    ) -> Checkpoint:
        """Read one checkpoint.

        Raises:
            NotFoundError: absent or expired.
            SessionNotFoundError, InvalidRequestError, PayloadMissingError, MisdirectedError
        """
        check_namespace(namespace, path="query namespace")
        check_message_id(checkpoint_id, path="checkpointId")
        session = self.access.load(caller, session_id, min_version=min_version)
        checkpoint = self._read_unexpired(session_id, namespace, checkpoint_id)
        if checkpoint is None:
            raise NotFoundError("There is no such checkpoint in this namespace of the session.")
        (whole,) = CHECKPOINTS.load(self.payloads, (checkpoint,), home=session.home_region)
        self.access.slide_quietly(caller, session)
        return whole

    def latest(
        self, caller: Caller, session_id: str, *, namespace: str = "", min_version: int = 0
    ) -> Checkpoint:
        """Read the unexpired checkpoint of a namespace with the greatest id.

        Raises:
            NotFoundError: there is none.
            SessionNotFoundError, InvalidRequestError, PayloadMissingError, MisdirectedError
        """
        check_namespace(namespace, path="query namespace")
        session = self.access.load(caller, session_id, min_version=min_version)
        newest = self.newest_of(session, namespace)
        if newest is None:
            raise NotFoundError("There is no checkpoint in this namespace of the session.")
        self.access.slide_quietly(caller, session)
        return newest

    def newest_of(self, session: Session, namespace: str) -> Checkpoint | None:
        """``latest`` for a session that was loaded before; None where there is no checkpoint."""
        newest = self._newest(session.session_id, namespace)
        if newest is None:
            return None
        (whole,) = CHECKPOINTS.load(self.payloads, (newest,), home=session.home_region)
        return whole

    def page(
        self,
        caller: Caller,
        session_id: str,
        page: PageRequest[CheckpointPosition],
        *,
        namespace: str = "",
        min_version: int = 0,
    ) -> CheckpointPage:
        """Read a page of a namespace's checkpoints in the order of their ids. Expired ones are left out.

        Raises:
            SessionNotFoundError, InvalidRequestError, PayloadMissingError, MisdirectedError
        """
        check_namespace(namespace, path="query namespace")
        session = self.access.load(caller, session_id, min_version=min_version)
        result = self.storage.page(session_id, namespace, page)
        whole = CHECKPOINTS.load(self.payloads, self._unexpired(result.items), home=session.home_region)
        self.access.slide_quietly(caller, session)
        return replace(result, items=whole)

    def _read_unexpired(self, session_id: str, namespace: str, checkpoint_id: str) -> Checkpoint | None:
        stored = self.storage.read(session_id, namespace, checkpoint_id)
        return None if stored is None or is_expired(stored.ttl, self.clock.now_ms()) else stored

    def _unexpired(self, checkpoints: Sequence[Checkpoint]) -> tuple[Checkpoint, ...]:
        now_ms = self.clock.now_ms()
        return tuple(each for each in checkpoints if not is_expired(each.ttl, now_ms))

    def _newest(self, session_id: str, namespace: str) -> Checkpoint | None:
        """Read one item first; while all that is read has expired, twice as many each time."""
        after, limit = None, 1
        while True:
            request: PageRequest[CheckpointPosition] = PageRequest(limit=limit, after=after, descending=True)
            result = self.storage.page(session_id, namespace, request)
            unexpired = self._unexpired(result.items)
            if unexpired or result.next is None:
                return unexpired[0] if unexpired else None
            after, limit = result.next, min(2 * limit, MAX_PAGE)

    def _check(self, new: NewCheckpoint) -> None:
        check_namespace(new.namespace, path="$.namespace")
        for name, value in (("checkpointId", new.checkpoint_id), ("parentId", new.parent_id)):
            if value is not None:
                check_message_id(value, path=f"$.{name}")
        retain = new.retain_seconds
        if retain is not None:
            path = "$.retainSeconds"
            check_whole(retain, least=SHORTEST_RETENTION, most=LONGEST_LIFE, path=path, unit="seconds")
        self.payloads.check(new.data, path="$.data")


def added_checkpoint(draft: CheckpointDraft, existing: Checkpoint | None) -> AddedCheckpoint:
    """The result of adding the draft. ``existing``: what had its id before; None: the draft was stored.

    Raises:
        ContentConflictError: the existing checkpoint has other content.
    """
    if existing is None:
        return AddedCheckpoint(checkpoint=draft.checkpoint, replayed=False)
    if existing.content_hash != draft.checkpoint.content_hash:
        raise ContentConflictError(checkpointId=existing.checkpoint_id)
    return AddedCheckpoint(checkpoint=CHECKPOINTS.with_given(existing, data=draft.new.data), replayed=True)
