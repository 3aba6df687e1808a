"""Sessions created and changed under an idempotency key."""

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.fingerprints import fingerprint, present_members
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.session import Session
from session_store.domain.state_operations import StateOperations
from session_store.errors import OutcomeUnknownError, ThrottledError
from session_store.ports import KeyedSessionStorage
from session_store.services.access import SessionAccess
from session_store.services.key_claims import build_key_claim, check_same_request
from session_store.services.new_sessions import NewSession, SessionSeed, build_session
from session_store.services.sessions import Sessions


class KeyedSessionResult(Struct, frozen=True, kw_only=True):
    """``replayed``: the key was used before, and nothing was written."""

    session: Session
    replayed: bool


class KeyedSessions(Struct, frozen=True, kw_only=True):
    storage: KeyedSessionStorage
    sessions: Sessions
    access: SessionAccess

    def create(self, caller: Caller, new: NewSession, *, key: str) -> KeyedSessionResult:
        """``Sessions.create``, once per key. A replay returns the session as it was created.

        The key is scoped to the region, since each region writes its own claims: used in another region,
        it creates another session.

        Raises:
            IdempotencyMismatchError: the key was used for another session.
            InvalidRequestError, PayloadTooLargeError
        """
        seed = self.sessions.new_seed()
        session = build_session(caller, new, seed)
        route = f"POST /sessions {seed.region}"
        claim = _claim(caller, seed, route=route, key=key, input_hash=fingerprint("session", new.members))
        held = self.storage.create(session, claim)
        if held is None:
            return KeyedSessionResult(session=session, replayed=False)
        check_same_request(held, claim)
        return KeyedSessionResult(session=build_session(caller, new, _seed_of(held)), replayed=True)

    def change_state(
        self,
        caller: Caller,
        session_id: str,
        operations: StateOperations,
        *,
        key: str,
        version: int | None = None,
    ) -> KeyedSessionResult:
        """``Sessions.change_state``, once per key. A replay returns the session as it is now.

        The key is scoped to the session; ``version`` is part of the request that is compared.

        Raises:
            IdempotencyMismatchError: the key was used for another change.
            InvalidRequestError, VersionConflictError, SessionClosedError, SessionNotFoundError,
            PayloadTooLargeError
        """
        write = self.sessions.state_write(caller, session_id, operations, version=version)
        seed = SessionSeed(
            session_id=session_id,
            operation_id=write.operation_id,
            at=write.guard.now_ms,
            region=write.guard.region,
        )
        change = present_members(operations.members, {"expectedVersion": (version, None)})
        route = f"PATCH /sessions/{session_id}/state"
        claim = _claim(caller, seed, route=route, key=key, input_hash=fingerprint("state-change", change))
        held = self.storage.write(write, claim)
        if held is not None:
            check_same_request(held, claim)
        session = self._load_committed(caller, session_id)
        return KeyedSessionResult(
            session=self.access.slide_quietly(caller, session), replayed=held is not None
        )

    def _load_committed(self, caller: Caller, session_id: str) -> Session:
        """Read the session after its write, since a transaction returns no values.

        Raises:
            OutcomeUnknownError: it could not be read, but was written.
        """
        try:
            return self.access.load_at_home(caller, session_id)
        except ThrottledError as error:
            raise OutcomeUnknownError from error


def _claim(caller: Caller, seed: SessionSeed, *, route: str, key: str, input_hash: str) -> KeyClaim:
    return build_key_claim(
        caller,
        route=route,
        key=key,
        input_hash=input_hash,
        target=seed.session_id,
        operation_id=seed.operation_id,
        at=seed.at,
        region=seed.region,
    )


def _seed_of(claim: KeyClaim) -> SessionSeed:
    """The seed of the write that the claim was written with."""
    return SessionSeed(
        session_id=claim.target,
        operation_id=claim.operation_id,
        at=claim.started_at,
        region=claim.region,
    )
