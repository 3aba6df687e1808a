"""Checkpoints of a session: taken once for ever, and the newest of them."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.checkpoint import Checkpoint, check_namespace
from session_store.domain.claim import check_repeat
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.identifiers import check_message_id
from session_store.domain.json_values import digest
from session_store.domain.message import check_on_clock
from session_store.domain.page import CheckpointPosition, Page, PageRequest
from session_store.domain.session import Session, writable
from session_store.domain.times import is_over
from session_store.errors import (
    ContentConflictError,
    InvalidRequestError,
    NotFoundError,
    SessionClosedError,
)
from session_store.ports import CheckpointStorage, Clock, Ids
from session_store.services.access import SessionAccess
from session_store.services.births import Birth
from session_store.services.checkpoint_births import NewCheckpoint, asked, born, checkpoint_claim
from session_store.services.key_claims import MISMATCH, birth_of
from session_store.services.payload_parts import CHECKPOINTS
from session_store.services.payloads import Payloads

MOST_AT_ONCE: Final = 100
"""Checkpoints read at once on the way past expired ones to the newest."""

CheckpointPage = Page[Checkpoint, CheckpointPosition]


class Added(Struct, frozen=True, kw_only=True):
    """``created``: it was not there before. ``by_key``: this is the first answer to a key used before."""

    checkpoint: Checkpoint
    created: bool
    by_key: bool = False


class Checkpoints(Struct, frozen=True, kw_only=True):
    storage: CheckpointStorage
    access: SessionAccess
    payloads: Payloads
    clock: Clock
    ids: Ids

    def add(self, caller: Caller, session_id: str, new: NewCheckpoint, *, key: str | None = None) -> Added:
        """Store a checkpoint, once for its id and once for a key.

        One whose id is there with the same content is a replay and a success, whatever has become of
        the session's status and of its parent; so is one whose key was used for the same. The key is the
        session's own.

        Raises:
            ContentConflictError: the id is there with another content.
            IdempotencyMismatchError: the key was used for another checkpoint.
            InvalidRequestError: malformed, a new id five minutes off, or a parent that is not there.
            SessionClosedError, SessionNotFoundError, PayloadTooLargeError
        """
        self._check(new)
        session = self.access.found_at_home(caller, session_id)
        now_ms = self.clock.now_ms()
        # What names the attempt names the checkpoint too, where the caller does not: so a claim tells it.
        birth = Birth(
            session_id=session_id,
            operation_id=self.ids.message_id(now_ms),
            at=now_ms,
            region=session.home_region,
        )
        checkpoint = born(caller, session, new, birth)
        claim = None if key is None else checkpoint_claim(caller, new, birth, key=key)
        added = self._added(caller, session, new, checkpoint, self._kept(session, new, checkpoint, claim))
        self.access.used(caller, session)
        return added

    def _kept(
        self, session: Session, new: NewCheckpoint, checkpoint: Checkpoint, claim: KeyClaim | None
    ) -> KeyClaim | Checkpoint | None:
        """None when the checkpoint is stored now; else what makes it a replay, or a conflict."""
        try:
            self._check_room(session, new, checkpoint.taken_at)
        except (InvalidRequestError, SessionClosedError):
            held = self._held(new, checkpoint, claim)
            if held is None:
                raise
            return held
        if claim is None:
            (stored,) = CHECKPOINTS.stored(self.payloads, (checkpoint,))
            return self.storage.put(stored)
        # An object whose name this attempt mints would be nobody's, were the key found to be used only then.
        used = self._claimed(claim) if CHECKPOINTS.has_large(checkpoint) else None
        if used is not None:
            return used
        (stored,) = CHECKPOINTS.stored(self.payloads, (checkpoint,))
        return self.storage.put_under_key(stored, claim)

    def _check_room(self, session: Session, new: NewCheckpoint, now_ms: int) -> None:
        """Pass where it may be stored as a new one; what is there already is a replay all the same.

        Raises:
            InvalidRequestError, SessionClosedError
        """
        writable(session)
        if new.checkpoint_id is not None:
            check_on_clock(new.checkpoint_id, now_ms, path="$.checkpointId")
        parent = new.parent_id
        if parent and not self.storage.has(session.session_id, new.namespace, parent, now_ms=now_ms):
            detail = "There is no such checkpoint in this namespace of the session"
            raise InvalidRequestError(detail, path="$.parentId")

    def _held(
        self, new: NewCheckpoint, checkpoint: Checkpoint, claim: KeyClaim | None
    ) -> KeyClaim | Checkpoint | None:
        """What is there already under the key, or the id; read only where nothing new may be stored."""
        held = None if claim is None else self._claimed(claim)
        if held is not None or new.checkpoint_id is None:
            return held
        return self._alive(checkpoint.session_id, checkpoint.namespace, new.checkpoint_id)

    def _claimed(self, claim: KeyClaim) -> KeyClaim | None:
        held = self.storage.read_claim(claim.key_hash)
        return None if held is None or is_over(held.ttl, claim.started_at) else held

    def _added(
        self,
        caller: Caller,
        session: Session,
        new: NewCheckpoint,
        checkpoint: Checkpoint,
        held: KeyClaim | Checkpoint | None,
    ) -> Added:
        match held:
            case None:
                return Added(checkpoint=checkpoint, created=True)
            case KeyClaim():
                check_repeat(held, input_hash=digest(asked(new)), mismatch=MISMATCH)
                first = born(caller, session, new, birth_of(held))
                return Added(checkpoint=first, created=False, by_key=True)
            case Checkpoint():
                if held.content_hash != checkpoint.content_hash:
                    raise ContentConflictError(checkpointId=held.checkpoint_id)
                return Added(checkpoint=CHECKPOINTS.as_given(held, data=new.data), created=False)

    def get(
        self, caller: Caller, session_id: str, checkpoint_id: str, *, namespace: str = "", at_least: int = 0
    ) -> Checkpoint:
        """One checkpoint.

        Raises:
            NotFoundError: absent or expired.
            SessionNotFoundError, InvalidRequestError, PayloadMissingError, MisdirectedError
        """
        check_namespace(namespace, path="query namespace")
        check_message_id(checkpoint_id, path="checkpointId")
        session = self.access.found(caller, session_id, at_least=at_least)
        found = self._alive(session_id, namespace, checkpoint_id)
        if found is None:
            raise NotFoundError
        (opened,) = CHECKPOINTS.opened(self.payloads, (found,), home=session.home_region)
        self.access.used(caller, session)
        return opened

    def latest(
        self, caller: Caller, session_id: str, *, namespace: str = "", at_least: int = 0
    ) -> Checkpoint:
        """The checkpoint of a namespace with the greatest id.

        Raises:
            NotFoundError: there is none that is not expired.
            SessionNotFoundError, InvalidRequestError, PayloadMissingError, MisdirectedError
        """
        check_namespace(namespace, path="query namespace")
        session = self.access.found(caller, session_id, at_least=at_least)
        newest = self.newest_of(session, namespace)
        if newest is None:
            raise NotFoundError
        self.access.used(caller, session)
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
        at_least: int = 0,
    ) -> CheckpointPage:
        """Checkpoints of a namespace in the order of their ids; short where some are expired.

        Raises:
            SessionNotFoundError, InvalidRequestError, PayloadMissingError, MisdirectedError
        """
        check_namespace(namespace, path="query namespace")
        session = self.access.found(caller, session_id, at_least=at_least)
        found = self.storage.page(session_id, namespace, page)
        opened = CHECKPOINTS.opened(self.payloads, self._living(found.items), home=session.home_region)
        self.access.used(caller, session)
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
        self.payloads.check(new.data, path="$.data")
