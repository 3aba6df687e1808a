"""The bodies of requests on sessions and messages, those of operators, and what several topics share."""

from typing import Annotated, Any, Final, Literal

import msgspec

from session_store.domain.claim import MAX_LEASE, MIN_LEASE, ClaimStatus
from session_store.domain.message import MAX_BATCH
from session_store.domain.state_operations import StateOperations
from session_store.domain.times import from_iso
from session_store.domain.window import LONGEST_LIFE
from session_store.errors import InvalidRequestError
from session_store.services.context import NewMessage
from session_store.services.new_sessions import NewSession

SEVEN_DAYS: Final = 604_800
THIRTY_DAYS: Final = 2_592_000
DEFAULT_LEASE: Final = 60
Lease = Annotated[int, msgspec.Meta(ge=MIN_LEASE, le=MAX_LEASE)]
Fence = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A JSON object in which nothing unknown is passed over in silence."""


class CreateSession(Body, frozen=True):
    """``idleTimeout`` and ``maxLifetime`` in seconds."""

    idle_timeout: Annotated[int, msgspec.Meta(ge=10, le=SEVEN_DAYS)] = 3600
    max_lifetime: Annotated[int, msgspec.Meta(ge=10, le=LONGEST_LIFE)] = THIRTY_DAYS
    state: dict[str, Any] = {}
    protocol: dict[str, Any] = {}
    credential_refs: Annotated[list[str], msgspec.Meta(max_length=10)] = []

    def to_domain(self) -> NewSession:
        return NewSession(
            idle_timeout=self.idle_timeout,
            max_lifetime=self.max_lifetime,
            state=self.state,
            protocol=self.protocol,
            credential_refs=self.credential_refs,
        )


class ChangeState(Body, frozen=True):
    """Operations on top-level keys of the state, each key in one of them."""

    set: dict[str, Any] = {}
    remove: list[str] = []
    increment: dict[str, Any] = {}
    append: dict[str, Any] = {}

    def to_domain(self) -> StateOperations:
        return StateOperations(set=self.set, remove=self.remove, increment=self.increment, append=self.append)


class MoveSession(Body, frozen=True):
    to: Literal["active", "closing", "closed"]


class DrainSessions(Body, frozen=True):
    """``withinSeconds``: how soon the sessions end that are to be moved."""

    within_seconds: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_LIFE)]


class NewMessageBody(Body, frozen=True):
    content: Any
    message_id: str | None = None


class AppendMessages(Body, frozen=True):
    messages: Annotated[list[NewMessageBody], msgspec.Meta(min_length=1, max_length=MAX_BATCH)]
    atomic: bool = False

    def to_domain(self) -> list[NewMessage]:
        return [NewMessage(content=new.content, message_id=new.message_id) for new in self.messages]


class Heartbeat(Body, frozen=True):
    fence: Fence
    lease_seconds: Lease


class Reconcile(Body, frozen=True):
    """What has been found out: the `output` or the `error`, or that the work may be tried again.

    `fence`: of the attempt that was looked into, so that none that has come since is judged by it.
    """

    outcome: Literal["completed", "failed", "retry"]
    fence: Fence | None = None
    output: Any = None
    error: Any = None

    def status(self) -> ClaimStatus | None:
        """None: to be tried again."""
        if self.outcome != "retry":
            return ClaimStatus(self.outcome)
        for name in ("output", "error"):
            if getattr(self, name) is not None:
                raise InvalidRequestError("What is to be tried again has no outcome", path=f"$.{name}")
        return None


def moment(text: str | None, *, path: str) -> int | None:
    """Milliseconds since the epoch; None where there is no text.

    Raises:
        InvalidRequestError: no time, or one without a zone.
    """
    if text is None:
        return None
    try:
        return from_iso(text)
    except ValueError as error:
        detail = "Must be an ISO 8601 time with a zone, like 2026-01-31T08:30:00.123Z"
        raise InvalidRequestError(detail, path=path) from error
