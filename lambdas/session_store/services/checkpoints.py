"""Checkpoints of a session: taken once for ever, and the newest of them."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.checkpoint import SHORTEST_RETENTION, Checkpoint, check_namespace
from session_store.domain.identifiers import check_message_id
from session_store.domain.message import check_on_clock
from session_store.domain.page import CheckpointPosition, Page, PageRequest
from session_store.domain.session import Session, writable
from session_store.domain.times import is_over
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

MOST_AT_ONCE: Final = 100
"""Checkpoints read at once on the way past expired ones to the newest."""

CheckpointPage = Page[Checkpoint, CheckpointPosition]


class AddedCheckpoint(Struct, frozen=True, kw_only=True):
    """``created``: it was not there before. ``by_key``: this is the first answer to a key used before."""

    checkpoint: Checkpoint
    replayed: bool
    by_key: bool = False


class CheckpointDraft(Struct, frozen=True, kw_only=True):
    """A checkpoint as it is to be, and the session that it was asked for in."""

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
        """Store a checkpoint, once for its id.

        One whose id is there with the same content is a replay and a success, whatever has become of
        the session's status and of its parent.

        Raises:
            ContentConflictError: the id is there with another content.
            InvalidRequestError: malformed, a new id five minutes off, or a parent that is not there.
            SessionClosedError, SessionNotFoundError, PayloadTooLargeError
        """
        draft = self.draft(caller, session_id, new)
        refusal = self.refusal(draft)
        held = self.storage.put(self.stored(draft)) if refusal is None else self.there(draft, refusal)
        added = answer(draft, held)
        self.access.slide_quietly(caller, draft.session)
        return added

    def draft(self, caller: Caller, session_id: str, new: NewCheckpoint) -> CheckpointDraft:
        """Raises InvalidRequestError, MisdirectedError, PayloadTooLargeError, SessionNotFoundError."""
        self._check(new)
        session = self.access.load_at_home(caller, session_id)
        now_ms = self.clock.now_ms()
        checkpoint_id = new.checkpoint_id or self.ids.message_id(now_ms)
        checkpoint = build_checkpoint(caller, session, new, checkpoint_id=checkpoint_id, at=now_ms)
        return CheckpointDraft(session=session, new=new, checkpoint=checkpoint)

    def refusal(self, draft: CheckpointDraft) -> StoreError | None:
        """Why it may not be stored as a new one; what is there already is a replay all the same."""
        try:
            self._check_room(draft)
        except (InvalidRequestError, SessionClosedError) as error:
            return error
        return None

    def _check_room(self, draft: CheckpointDraft) -> None:
        session, new, now_ms = writable(draft.session), draft.new, draft.checkpoint.taken_at
        if new.checkpoint_id is not None:
            check_on_clock(new.checkpoint_id, now_ms, path="$.checkpointId")
        parent = new.parent_id
        if parent and not self.storage.has(session.session_id, new.namespace, parent, now_ms=now_ms):
            detail = "There is no such checkpoint in this namespace of the session"
            raise InvalidRequestError(detail, path="$.parentId")

    def there(self, draft: CheckpointDraft, refusal: StoreError) -> Checkpoint:
        """What is there already under the id that the caller chose; else ``refusal`` is raised."""
        new = draft.new
        if new.checkpoint_id is None:
            raise refusal
        held = self._alive(draft.session.session_id, new.namespace, new.checkpoint_id)
        if held is None:
            raise refusal
        return held

    def stored(self, draft: CheckpointDraft) -> Checkpoint:
        """The checkpoint as its item has it: what is too large for that is in the bucket by now."""
        (checkpoint,) = CHECKPOINTS.stored(self.payloads, (draft.checkpoint,))
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
        """One checkpoint.

        Raises:
            NotFoundError: absent or expired.
            SessionNotFoundError, InvalidRequestError, PayloadMissingError, MisdirectedError
        """
        check_namespace(namespace, path="query namespace")
        check_message_id(checkpoint_id, path="checkpointId")
        session = self.access.load(caller, session_id, min_version=min_version)
        found = self._alive(session_id, namespace, checkpoint_id)
        if found is None:
            raise NotFoundError
        (opened,) = CHECKPOINTS.opened(self.payloads, (found,), home=session.home_region)
        self.access.slide_quietly(caller, session)
        return opened

    def latest(
        self, caller: Caller, session_id: str, *, namespace: str = "", min_version: int = 0
    ) -> Checkpoint:
        """The checkpoint of a namespace with the greatest id.

        Raises:
            NotFoundError: there is none that is not expired.
            SessionNotFoundError, InvalidRequestError, PayloadMissingError, MisdirectedError
        """
        check_namespace(namespace, path="query namespace")
        session = self.access.load(caller, session_id, min_version=min_version)
        newest = self.newest_of(session, namespace)
        if newest is None:
            raise NotFoundError
        self.access.slide_quietly(caller, session)
        return newest

    def newest_of(self, session: Session, namespace: str) -> Checkpoint | None:
        """The same of a session that was found, and None where there is none."""
        newest = self._newest(session.session_id, namespace)
        if newest is None:
            return None
        (opened,) = CHECKPOINTS.opened(self.payloads, (newest,), home=session.home_region)
        return opened

    def page(
        self,
        caller: Caller,
        session_id: str,
        page: PageRequest[CheckpointPosition],
        *,
        namespace: str = "",
        min_version: int = 0,
    ) -> CheckpointPage:
        """Checkpoints of a namespace in the order of their ids; short where some are expired.

        Raises:
            SessionNotFoundError, InvalidRequestError, PayloadMissingError, MisdirectedError
        """
        check_namespace(namespace, path="query namespace")
        session = self.access.load(caller, session_id, min_version=min_version)
        found = self.storage.page(session_id, namespace, page)
        opened = CHECKPOINTS.opened(self.payloads, self._living(found.items), home=session.home_region)
        self.access.slide_quietly(caller, session)
        return replace(found, items=opened)

    def _alive(self, session_id: str, namespace: str, checkpoint_id: str) -> Checkpoint | None:
        found = self.storage.read(session_id, namespace, checkpoint_id)
        return None if found is None or is_over(found.ttl, self.clock.now_ms()) else found

    def _living(self, found: Sequence[Checkpoint]) -> tuple[Checkpoint, ...]:
        now_ms = self.clock.now_ms()
        return tuple(each for each in found if not is_over(each.ttl, now_ms))

    def _newest(self, session_id: str, namespace: str) -> Checkpoint | None:
        """One item is read where the newest lives; past expired ones, twice as many each time."""
        after, limit = None, 1
        while True:
            request: PageRequest[CheckpointPosition] = PageRequest(limit=limit, after=after, descending=True)
            found = self.storage.page(session_id, namespace, request)
            living = self._living(found.items)
            if living or found.next is None:
                return living[0] if living else None
            after, limit = found.next, min(2 * limit, MOST_AT_ONCE)

    def _check(self, new: NewCheckpoint) -> None:
        check_namespace(new.namespace, path="$.namespace")
        for name, given in (("checkpointId", new.checkpoint_id), ("parentId", new.parent_id)):
            if given is not None:
                check_message_id(given, path=f"$.{name}")
        kept = new.retain_seconds
        if kept is not None and not SHORTEST_RETENTION <= kept <= LONGEST_LIFE:
            detail = f"Must be {SHORTEST_RETENTION} to {LONGEST_LIFE} seconds"
            raise InvalidRequestError(detail, path="$.retainSeconds")
        self.payloads.check(new.data, path="$.data")


def answer(draft: CheckpointDraft, held: Checkpoint | None) -> AddedCheckpoint:
    """``held``: what was there under the id; None: it is stored now.

    Raises:
        ContentConflictError: another content is there.
    """
    if held is None:
        return AddedCheckpoint(checkpoint=draft.checkpoint, replayed=False)
    if held.content_hash != draft.checkpoint.content_hash:
        raise ContentConflictError(checkpointId=held.checkpoint_id)
    return AddedCheckpoint(checkpoint=CHECKPOINTS.as_given(held, data=draft.new.data), replayed=True)
