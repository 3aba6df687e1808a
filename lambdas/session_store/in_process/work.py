"""A piece of work as whoever does it sees it: how it stands, and how it ended."""

from collections.abc import Iterator
from typing import Final, Protocol

from msgspec import Struct

from session_store.domain.claim import ClaimStatus
from session_store.domain.json_values import JsonValue
from session_store.errors import (
    InProgressError,
    OutcomeUnknownError,
    StoreError,
    UnsettledError,
    WorkFailedError,
)
from session_store.in_process.lease import RENEW_FOR, Lease

FIRST_LOOK: Final = 0.25
LONGEST_LOOK: Final = 2.0
"""Seconds between two looks at work that somebody else does."""

BEGIN_AGAIN: Final = (InProgressError, OutcomeUnknownError)
"""What may be another after a while: a block is one attempt, and is given its own fence again."""


class BlockOptions(Struct, frozen=True, kw_only=True):
    """How a block is held.

    ``wait``: seconds to wait for somebody else who does the work. ``renew_for``: seconds for which the
    lease is renewed. ``failures``: exceptions by which the block says that its work has failed.
    """

    wait: float = 0
    renew_for: int = RENEW_FOR
    failures: tuple[type[Exception], ...] = ()


def looks(wait: float) -> Iterator[float]:
    """Pauses between looks, ``wait`` seconds together."""
    pause = FIRST_LOOK
    while wait > 0:
        yield min(pause, wait)
        wait -= pause
        pause = min(LONGEST_LOOK, pause * 2)


NO_FAILURES: Final = (StoreError, UnsettledError, WorkFailedError)
"""What the store, or another block, has to say is no failure of the work."""


def failure_of(error: Exception) -> JsonValue:
    """What is recorded of an exception: its type. Its text may quote what nobody should read."""
    return {"type": type(error).__name__}


class Settled(Protocol):
    """A record, or a free claim."""

    @property
    def status(self) -> ClaimStatus: ...

    @property
    def output(self) -> JsonValue: ...

    @property
    def error(self) -> JsonValue: ...


class Work:
    """What is common to tool calls and free claims, in a block or awaited.

    The block runs whatever the work is: ask ``finished`` first, and act only where it is False.
    """

    def __init__(self, *, lease: Lease, fence: int, downstream_token: str, settled: Settled | None) -> None:
        self.lease: Final = lease
        self.fence: Final = fence
        self.downstream_token: Final = downstream_token
        """For a service that takes idempotency keys: the same for every attempt. 36 hex digits."""
        self._settled = settled
        self._end_asked = False

    @property
    def may_have_failed(self) -> bool:
        """Whether an exception may still mean that nothing came of it: no outcome was asked to be written."""
        return not self.finished and not self._end_asked

    @property
    def finished(self) -> bool:
        """Whether the work has an outcome, of this attempt or of one before."""
        return self._settled is not None

    @property
    def failed(self) -> bool:
        """Whether its outcome is a failure."""
        return self._settled is not None and self._settled.status is ClaimStatus.FAILED

    @property
    def output(self) -> JsonValue:
        """Raises:
        WorkFailedError: it failed, which is no output of ``None``.
        UnsettledError: it has no outcome yet.
        """
        settled = self._outcome()
        if self.failed:
            raise WorkFailedError(settled.error)
        return settled.output

    @property
    def error(self) -> JsonValue:
        """What was recorded of a failure; None where there was none.

        Raises:
            UnsettledError: the work has no outcome yet.
        """
        return self._outcome().error

    @property
    def lost(self) -> bool:
        """Whether to stop: somebody else may hold the work, and an outcome may not be taken any more."""
        return not self.finished and self.lease.lost

    def check(self) -> None:
        """Pass while the work is held; ask before each step that acts.

        Raises:
            FencedError
        """
        if not self.finished:
            self.lease.check()

    def check_settled(self) -> None:
        """Raises UnsettledError."""
        self._outcome()

    def _outcome(self) -> Settled:
        if self._settled is None:
            raise UnsettledError
        return self._settled
