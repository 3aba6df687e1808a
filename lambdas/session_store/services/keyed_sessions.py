"""What a caller does with its sessions under an idempotency key: once for ever, and answered again."""

from collections.abc import Callable

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.fingerprints import fingerprint, present_members
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.session import Session
from session_store.domain.state_operations import StateOperations
from session_store.errors import OutcomeUnknownError, ThrottledError
from session_store.ports import KeyedSessionStorage
from session_store.services.access import SessionAccess
from session_store.services.key_claims import check_same, key_claim
from session_store.services.new_sessions import Birth, NewSession, born
from session_store.services.sessions import Sessions


class Once(Struct, frozen=True, kw_only=True):
    """``replayed``: the key had been used before, and nothing was done now."""

    session: Session
    replayed: bool


class KeyedSessions(Struct, frozen=True, kw_only=True):
    storage: KeyedSessionStorage
    sessions: Sessions
    access: SessionAccess

    def create(self, caller: Caller, new: NewSession, *, key: str) -> Once:
        """As ``Sessions.create``, once for a key; a replay is the session as it was made.

        The key is the region's own: each region writes its own claims, and a caller that
        goes to another region with a key has made no session there yet.

        Raises:
            IdempotencyMismatchError: the key was used for another session.
            InvalidRequestError, PayloadTooLargeError
        """
        birth = self.sessions.birth()
        session = born(caller, new, birth)
        route = f"POST /sessions {birth.region}"
        claim = _claim(caller, birth, route=route, key=key, input_hash=fingerprint("session", new.members))
        held = self.storage.create(session, claim)
        if held is None:
            return Once(session=session, replayed=False)
        check_same(held, claim)
        return Once(session=born(caller, new, _birth_of(held)), replayed=True)

    def change_state(
        self,
        caller: Caller,
        session_id: str,
        operations: StateOperations,
        *,
        key: str,
        version: int | None = None,
    ) -> Once:
        """As ``Sessions.change_state``, once for a key; a replay is the session as it is by now.

        The key is the session's own, and ``version`` is part of what it was used for.

        Raises:
            IdempotencyMismatchError: the key was used for another change.
            InvalidRequestError, VersionConflictError, SessionClosedError, SessionNotFoundError,
            PayloadTooLargeError
        """
        write = self.sessions.state_write(caller, session_id, operations, version=version)
        birth = Birth(
            session_id=session_id,
            operation_id=write.operation_id,
            at=write.guard.now_ms,
            region=write.guard.region,
        )
        change = present_members(operations.members, {"expectedVersion": (version, None)})
        route = f"PATCH /sessions/{session_id}/state"
        claim = _claim(caller, birth, route=route, key=key, input_hash=fingerprint("state-change", change))
        held = self.storage.write(write, claim)
        if held is not None:
            check_same(held, claim)
        session = _known(lambda: self.access.load_at_home(caller, session_id))
        return Once(session=self.access.slide_quietly(caller, session), replayed=held is not None)


def _claim(caller: Caller, birth: Birth, *, route: str, key: str, input_hash: str) -> KeyClaim:
    return key_claim(
        caller,
        route=route,
        key=key,
        input_hash=input_hash,
        target=birth.session_id,
        operation_id=birth.operation_id,
        at=birth.at,
        region=birth.region,
    )


def _birth_of(claim: KeyClaim) -> Birth:
    """Of the write that the claim went with."""
    return Birth(
        session_id=claim.target,
        operation_id=claim.operation_id,
        at=claim.started_at,
        region=claim.region,
    )


def _known(read: Callable[[], Session]) -> Session:
    """What cannot be read now has been written all the same."""
    try:
        return read()
    except ThrottledError as error:
        raise OutcomeUnknownError from error
