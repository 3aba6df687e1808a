"""A piece of work as its holder sees it: its outcome, and whether it is still held."""

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

FIRST_PAUSE: Final = 0.25
MAX_PAUSE: Final = 2.0
"""Seconds between two begins while another attempt holds the work."""

RETRIED_BEGIN_ERRORS: Final = (InProgressError, OutcomeUnknownError)
"""Errors of a begin after which it is tried again; a block is one attempt and gets its own fence again."""

NOT_FAILURES: Final = (StoreError, UnsettledError, WorkFailedError)
"""Errors of the store or of another block, which never count as failures of the work."""


class BlockOptions(Struct, frozen=True, kw_only=True):
    """How a block holds its work.

    ``wait``: seconds to wait while another attempt holds the work. ``renew_for``: seconds for which the
    lease is renewed. ``failures``: exceptions that mean that the work has failed.
    """

    wait: float = 0
    renew_for: int = RENEW_FOR
    failures: tuple[type[Exception], ...] = ()


def pauses(wait: float) -> Iterator[float]:
    """Growing pauses between begins, ``wait`` seconds in sum."""
    pause = FIRST_PAUSE
    while wait > 0:
        yield min(pause, wait)
        wait -= pause
        pause = min(MAX_PAUSE, pause * 2)


def error_of(exception: Exception) -> JsonValue:
    """The error recorded for an exception: its type. Its text may contain confidential data."""
    return {"type": type(exception).__name__}


class SettledOutcome(Protocol):
    """The outcome of settled work, in a record or a free claim."""

    @property
    def status(self) -> ClaimStatus: ...

    @property
    def output(self) -> JsonValue: ...

    @property
    def error(self) -> JsonValue: ...


class Work:
    """What tool calls and free claims have in common, with ``with`` and with ``async with``.

    The block runs whether or not the work is finished: check ``finished`` first, and act only if it is False.
    """

    def __init__(
        self, *, lease: Lease, fence: int, downstream_token: str, outcome: SettledOutcome | None
    ) -> None:
        self.lease: Final = lease
        self.fence: Final = fence
        self.downstream_token: Final = downstream_token
        """For a service that takes idempotency keys: the same for every attempt. 36 hex digits."""
        self._outcome = outcome
        self._settlement_sent = False

    @property
    def finished(self) -> bool:
        """Whether the work has an outcome, of this attempt or an earlier one."""
        return self._outcome is not None

    @property
    def failed(self) -> bool:
        """Whether its outcome is a failure."""
        return self._outcome is not None and self._outcome.status is ClaimStatus.FAILED

    @property
    def output(self) -> JsonValue:
        """The output of the work.

        Raises:
            WorkFailedError: the work has failed, which is different from an output of ``None``.
            UnsettledError: it has no outcome yet.
        """
        outcome = self._settled_outcome()
        if self.failed:
            raise WorkFailedError(outcome.error)
        return outcome.output

    @property
    def error(self) -> JsonValue:
        """What was recorded of a failure; None if the work did not fail.

        Raises:
            UnsettledError: the work has no outcome yet.
        """
        return self._settled_outcome().error

    @property
    def lost(self) -> bool:
        """Whether to stop: another attempt may hold the work, and an outcome may be refused."""
        return not self.finished and self.lease.lost

    def check(self) -> None:
        """Check that the work is still held. Call it before each step with an effect.

        Raises:
            FencedError
        """
        if not self.finished:
            self.lease.check()

    def check_settled(self) -> None:
        """Check that the work has an outcome.

        Raises:
            UnsettledError
        """
        self._settled_outcome()

    def is_failed_by(self, exception: Exception) -> bool:
        """Whether an exception that leaves the block fails the work: no outcome exists, and none was sent."""
        unsettled = not self.finished and not self._settlement_sent
        return unsettled and not isinstance(exception, NOT_FAILURES)

    def _settled_outcome(self) -> SettledOutcome:
        if self._outcome is None:
            raise UnsettledError
        return self._outcome


class HeldWork(Protocol):
    """What a block needs of the work it holds, apart from ``fail``, which is blocking or awaited."""

    @property
    def lease(self) -> Lease: ...

    @property
    def finished(self) -> bool: ...

    def is_failed_by(self, exception: Exception) -> bool: ...

    def check_settled(self) -> None: ...
