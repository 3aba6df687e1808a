"""Request bodies about sessions."""

from typing import Annotated, Any, Final, Literal

import msgspec

from session_api.bodies import Body
from session_store.domain.state_operations import StateOperations
from session_store.domain.window import LONGEST_IDLE, LONGEST_LIFE, SHORTEST_LIFE
from session_store.services.new_sessions import NewSession

THIRTY_DAYS: Final = 2_592_000


class CreateSession(Body, frozen=True):
    """A new session; every member is optional."""

    idle_timeout: Annotated[int, msgspec.Meta(ge=SHORTEST_LIFE, le=LONGEST_IDLE)] = 3600
    """Seconds without use after which the session expires."""

    max_lifetime: Annotated[int, msgspec.Meta(ge=SHORTEST_LIFE, le=LONGEST_LIFE)] = THIRTY_DAYS
    """Seconds after which the session expires, however much it is used."""

    state: dict[str, Any] = msgspec.field(default_factory=dict)
    """The first state, up to 64 KB of JSON."""

    protocol: dict[str, Any] = msgspec.field(default_factory=dict)
    """What was negotiated with the client, such as `protocolVersion`; up to 64 KB of JSON, never changed."""

    credential_refs: Annotated[list[str], msgspec.Meta(max_length=10)] = msgspec.field(default_factory=list)
    """Names of secrets below the tenant's prefix, whose tokens are revoked when the session ends."""

    def to_domain(self) -> NewSession:
        return NewSession(
            idle_timeout=self.idle_timeout,
            max_lifetime=self.max_lifetime,
            state=self.state,
            protocol=self.protocol,
            credential_refs=self.credential_refs,
        )


class ChangeState(Body, frozen=True):
    """Operations on top-level keys of the state: 1 to 50 keys, each in one operation, up to 64 KB of JSON."""

    set: dict[str, Any] = msgspec.field(default_factory=dict)
    """Values by key; each replaces the value that is there."""

    remove: list[str] = msgspec.field(default_factory=list)
    """Keys to remove; one that is absent is no error."""

    increment: dict[str, Any] = msgspec.field(default_factory=dict)
    """Numbers by key, added to the number that is there, or to 0 where the key is absent."""

    append: dict[str, Any] = msgspec.field(default_factory=dict)
    """Lists by key, appended to the list that is there, or to an empty one where the key is absent."""

    def to_domain(self) -> StateOperations:
        return StateOperations(set=self.set, remove=self.remove, increment=self.increment, append=self.append)


class MoveSession(Body, frozen=True):
    """The status that a session is to have."""

    to: Literal["active", "closing", "closed"]
    """`active` from `initializing`, `closing` from either, `closed` from `closing`."""
