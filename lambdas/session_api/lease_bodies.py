"""Request bodies that tool calls, claims and tasks share: what the holder of a lease sends."""

from typing import Annotated, Any, Final, Literal

import msgspec

from session_api.bodies import Body
from session_store.domain.claim import MAX_LEASE, MIN_LEASE, ClaimStatus
from session_store.errors import InvalidRequestError

DEFAULT_LEASE: Final = 60
LeaseSeconds = Annotated[int, msgspec.Meta(ge=MIN_LEASE, le=MAX_LEASE)]
Fence = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Heartbeat(Body, frozen=True):
    """Extends a lease."""

    fence: Fence
    """The fencing token that the lease was granted with."""

    lease_seconds: LeaseSeconds
    """Seconds from now until the lease expires. A lease that already lasts longer is not shortened."""


class Reconcile(Body, frozen=True):
    """What has been found out about work whose lease expired without an outcome."""

    outcome: Literal["completed", "failed", "retry"]
    """How the work ended, or `retry`: it may safely be begun again."""

    fence: Fence | None = None
    """The fencing token of the attempt that was looked into; refused if a later attempt has begun."""

    output: Any = None
    """What the work returned; only with `completed`."""

    error: Any = None
    """How the work failed; only with `failed`."""

    def status(self) -> ClaimStatus | None:
        """The status that settles the claim; None where the work may be begun again.

        Raises:
            InvalidRequestError: ``retry`` with an output or an error.
        """
        if self.outcome != "retry":
            return ClaimStatus(self.outcome)
        for name in ("output", "error"):
            if getattr(self, name) is not None:
                raise InvalidRequestError("Must be absent where the outcome is retry", path=f"$.{name}")
        return None
