"""The claim machine: a lease on a piece of work that must not be done twice, and its outcome.

Tool calls, free idempotency keys and tasks share it. Each kind adds what it needs to be found, to be
finished and to be replayed. ``claim_steps`` has the transitions.
"""

from enum import Enum, StrEnum, auto
from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct

from session_store.domain.session import Author, Owner
from session_store.domain.times import DAY_SECONDS, MILLIS, is_expired
from session_store.errors import IdempotencyMismatchError, InProgressError

MIN_LEASE: Final = 1
MAX_LEASE: Final = 3600
"""Shortest and longest lease, in seconds. A heartbeat renews it."""

LEASE_SKEW_MARGIN_MS: Final = 4000
"""Largest difference between two clocks. A lease counts as held for as long after its expiry."""


class ClaimStatus(StrEnum):
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


SETTLED: Final = frozenset({ClaimStatus.COMPLETED, ClaimStatus.FAILED})


class Leased(Struct, frozen=True, kw_only=True):
    """Work that one attempt at a time holds under a lease: a claim, or a task.

    ``fence`` is the fencing token: it rises with every attempt, and only the holder of the current one may
    go on. ``retry_safe``: the work may be done again when its outcome is unknown. ``outcome_hash`` is the
    hash of the last attempt's outcome, empty while an attempt is running. ``ttl`` in epoch seconds; None:
    it does not expire.
    """

    status: StrEnum
    ttl: int | None
    author: Author
    fence: int
    lease_until_ms: int
    retry_safe: bool
    outcome_hash: str = ""

    @property
    def is_held(self) -> bool:
        """Whether an attempt holds it, whether or not its lease has expired."""
        raise NotImplementedError

    @property
    def is_settled(self) -> bool:
        """Whether it has its final outcome."""
        raise NotImplementedError

    def is_expired(self, now_ms: int) -> bool:
        return self.ttl is not None and is_expired(self.ttl, now_ms)


class LeasedClaim(Leased, frozen=True, kw_only=True):
    """A claim. It has its own owner, as it outlives its session; ``started_at`` (ms): first attempt."""

    owner: Owner
    status: ClaimStatus
    input_hash: str
    started_at: int
    ttl: int
    attempt_id: str

    @property
    def is_held(self) -> bool:
        return self.status is ClaimStatus.IN_PROGRESS

    @property
    def is_settled(self) -> bool:
        return self.status in SETTLED


ClaimT = TypeVar("ClaimT", bound=Leased)
BegunT = TypeVar("BegunT", bound=LeasedClaim)


class Standing(Enum):
    """The state of a claim at a given time, for an attempt that asks for its work."""

    ABSENT = auto()
    """There is no claim, or it has expired: the attempt may begin."""

    RUNNING = auto()
    """An attempt holds the lease."""

    AVAILABLE = auto()
    """No attempt holds the lease, and the work may be done again: the attempt may take over."""

    UNKNOWN = auto()
    """The lease has expired, and the work may have been done: reconcile first."""

    SETTLED = auto()
    """It has its outcome, which is the answer."""


class ClaimGuard(Struct, frozen=True, kw_only=True):
    """The condition under which a claim may be written at ``now_ms``.

    ``fence`` None: there is no claim, or an expired one. Otherwise the stored claim has this status, this
    fence and, unless ``lease_until_ms`` is None, this lease.
    """

    now_ms: int
    fence: int | None = None
    lease_until_ms: int | None = None
    status: StrEnum = ClaimStatus.IN_PROGRESS


class Step(Struct, Generic[ClaimT], frozen=True, kw_only=True):
    """The claim after a step, and the guard to write it under; None: nothing is to be written."""

    claim: ClaimT
    guard: ClaimGuard | None

    @property
    def replayed(self) -> bool:
        """Whether the claim is already as the step would leave it, so that nothing is written."""
        return self.guard is None


def standing(stored: Leased | None, *, now_ms: int) -> Standing:
    """The standing of a stored claim at ``now_ms``; see ``Standing``."""
    if stored is None or stored.is_expired(now_ms):
        return Standing.ABSENT
    if stored.is_settled:
        return Standing.SETTLED
    if stored.is_held and not lease_expired(stored.lease_until_ms, now_ms):
        return Standing.RUNNING
    return Standing.AVAILABLE if stored.retry_safe else Standing.UNKNOWN


def lease_expired(lease_until_ms: int, now_ms: int) -> bool:
    """Whether a lease has expired on every clock: some may be ahead of the one that granted it."""
    return now_ms >= lease_until_ms + LEASE_SKEW_MARGIN_MS


def next_fence(previous: int, now_ms: int) -> int:
    """The fence of the next attempt: higher than every earlier one, even that of an expired claim."""
    return max(previous + 1, now_ms)


def claim_ttl(*, lease_until_ms: int, at_least: int = 0) -> int:
    """Epoch second at which a claim expires: a day after its lease, and not before ``at_least``."""
    return max(at_least, -(-lease_until_ms // MILLIS) + DAY_SECONDS)


def admits(stored: Leased | None, guard: ClaimGuard) -> bool:
    """Whether the stored claim satisfies the guard."""
    if stored is None or stored.is_expired(guard.now_ms):
        return guard.fence is None
    return (
        stored.status == guard.status
        and stored.fence == guard.fence
        and guard.lease_until_ms in (None, stored.lease_until_ms)
    )


def guard_unchanged(stored: Leased, now_ms: int) -> ClaimGuard:
    """A guard that the claim is unchanged, its lease included: a heartbeat in between makes it fail."""
    return ClaimGuard(
        now_ms=now_ms, fence=stored.fence, lease_until_ms=stored.lease_until_ms, status=stored.status
    )


class Repeatable(Protocol):
    """A claim of any kind, as a repeated request sees it."""

    @property
    def status(self) -> ClaimStatus: ...

    @property
    def input_hash(self) -> str: ...


def check_repeat(stored: Repeatable, *, input_hash: str, mismatch: str) -> None:
    """Pass if the stored claim is settled and has the same input, so that its outcome is the answer.

    Raises:
        IdempotencyMismatchError: the claim has another input; ``mismatch`` is the detail.
        InProgressError: the claim is not settled yet.
    """
    if stored.input_hash != input_hash:
        raise IdempotencyMismatchError(mismatch)
    if stored.status not in SETTLED:
        raise InProgressError
