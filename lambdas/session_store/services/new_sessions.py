"""A new session as it is requested, and how it is built."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.credential import check_credential_ref
from session_store.domain.fingerprints import Members, present_members
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Session, Status, author_of, owner_of
from session_store.domain.times import seconds
from session_store.domain.whole_numbers import check_whole
from session_store.domain.window import LONGEST_IDLE, LONGEST_LIFE, SHORTEST_LIFE, window_from
from session_store.services.state_limits import check_map


class NewSession(Struct, frozen=True, kw_only=True):
    """``idle_timeout`` and ``max_lifetime`` in seconds."""

    idle_timeout: int
    max_lifetime: int
    state: Mapping[str, JsonValue]
    protocol: Mapping[str, JsonValue]
    credential_refs: Sequence[str]

    @property
    def members(self) -> Members:
        """The session as a fingerprint covers it; a default spelled out makes no difference."""
        required = {"idleTimeout": self.idle_timeout, "maxLifetime": self.max_lifetime}
        return present_members(
            required,
            {
                "state": (self.state, {}),
                "protocol": (self.protocol, {}),
                "credentialRefs": (list(self.credential_refs), []),
            },
        )


class SessionSeed(Struct, frozen=True, kw_only=True):
    """What the store assigns to a new session. ``at`` in milliseconds."""

    session_id: str
    operation_id: str
    at: int
    region: str


def build_session(caller: Caller, new: NewSession, seed: SessionSeed) -> Session:
    """Build the session. The same seed always gives the same session, so a replay can be answered with it.

    Raises:
        PayloadTooLargeError, InvalidRequestError: as ``Sessions.create``.
    """
    _check_new(new)
    ends = seconds(seed.at) + new.max_lifetime
    window = window_from(seed.at, idle_timeout=new.idle_timeout, max_expires_at=ends)
    return Session(
        session_id=seed.session_id,
        owner=owner_of(caller),
        status=Status.INITIALIZING,
        version=1,
        created_at=seed.at,
        updated_at=seed.at,
        ttl=window.ttl,
        slide_after=window.slide_after,
        idle_timeout=new.idle_timeout,
        max_expires_at=ends,
        home_region=seed.region,
        write_region=seed.region,
        updated_by=author_of(caller),
        last_write=seed.operation_id,
        state=new.state,
        protocol=new.protocol,
        credential_refs=tuple(new.credential_refs),
    )


def _check_new(new: NewSession) -> None:
    for value, name, most in (
        (new.idle_timeout, "idleTimeout", LONGEST_IDLE),
        (new.max_lifetime, "maxLifetime", LONGEST_LIFE),
    ):
        check_whole(value, least=SHORTEST_LIFE, most=most, path=f"$.{name}", unit="seconds")
    check_map(new.state, path="$.state")
    check_map(new.protocol, path="$.protocol")
    for position, reference in enumerate(new.credential_refs):
        check_credential_ref(reference, path=f"$.credentialRefs[{position}]")
