"""How often a call is made until it is answered, and what is known when it never is.

A request is built once by the caller and sent unchanged at every attempt. The
client itself resends nothing, for it would hide that an answer was lost: once
one was, no later refusal may say that nothing happened.
"""

import random
import time
from collections.abc import Callable
from enum import Enum, auto
from typing import Final, TypeVar

from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
)
from botocore.exceptions import ConnectionError as BrokenConnectionError
from msgspec import Struct, field

from session_store.deadline import Deadline
from session_store.errors import OutcomeUnknownError, ThrottledError

CONNECT_TIMEOUT: Final = 1
READ_TIMEOUT: Final = 2
ATTEMPT_SECONDS: Final = CONNECT_TIMEOUT + READ_TIMEOUT
"""What one attempt may take; none is begun with less than that left of the deadline."""

ATTEMPTS: Final = 3
CONFLICT_RETRIES: Final = 8
FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 1.0
SERVER_ERROR: Final = 500

_THROTTLES: Final = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ProvisionedThroughputExceeded",
        "RequestLimitExceeded",
        "ThrottlingException",
        "ThrottlingError",
    }
)
CONFLICTS: Final = frozenset({"TransactionConflictException", "TransactionConflict"})
_IN_PROGRESS: Final = "TransactionInProgressException"

Answer = TypeVar("Answer")


class Outcome(Enum):
    """What a failed attempt tells."""

    DECIDED = auto()
    """DynamoDB has judged the request: trying again would be judged the same."""

    MET = auto()
    """Another write stood in the way. Nothing was done."""

    BUSY = auto()
    """Throttled, or never sent. Nothing was done."""

    LOST = auto()
    """No answer: it may have been done."""

    RUNNING = auto()
    """This very request, sent before, is still being done."""


class DecidedError(Exception):
    """The judgement, and whether an answer to an earlier attempt of the same request was lost."""

    def __init__(self, error: ClientError, *, answer_lost: bool) -> None:
        super().__init__()
        self.error = error
        self.answer_lost = answer_lost


class Attempts(Struct, frozen=True, kw_only=True):
    """Full jitter between attempts (*Exponential Backoff And Jitter*), all within the deadline."""

    deadline: Deadline = field(default_factory=Deadline)
    sleep: Callable[[float], None] = time.sleep
    uniform: Callable[[float, float], float] = random.uniform

    def made(self, call: Callable[[], Answer]) -> Answer:
        """The answer of ``call``.

        Raises:
            DecidedError: DynamoDB refuses the request itself.
            ThrottledError: never done.
            OutcomeUnknownError: an answer was lost, and no later one told.
        """
        left = {Outcome.MET: CONFLICT_RETRIES, Outcome.RUNNING: CONFLICT_RETRIES}
        others = ATTEMPTS - 1
        lost = False
        for attempt in range(2 * CONFLICT_RETRIES + ATTEMPTS):
            if self.deadline.remaining() < ATTEMPT_SECONDS:
                break
            try:
                return call()
            except (ClientError, BrokenConnectionError, HTTPClientError) as error:
                outcome = outcome_of(error)
                if outcome is Outcome.DECIDED and isinstance(error, ClientError):
                    raise DecidedError(error, answer_lost=lost) from error
            lost = lost or outcome in (Outcome.LOST, Outcome.RUNNING)
            if outcome in left:
                left[outcome] -= 1
            else:
                others -= 1
            if others < 0 or min(left.values()) < 0:
                break
            self.pause(attempt)
        raise OutcomeUnknownError if lost else ThrottledError

    def pause(self, attempt: int) -> None:
        self.sleep(self.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)))


def outcome_of(error: Exception) -> Outcome:
    """What a failure says about the request that failed."""
    if not isinstance(error, ClientError):
        unsent = isinstance(error, ConnectTimeoutError | EndpointConnectionError)
        return Outcome.BUSY if unsent else Outcome.LOST
    code = error.response.get("Error", {}).get("Code", "")
    if code == "TransactionCanceledException":
        return _outcome_of_cancellation(error)
    if code in CONFLICTS:
        return Outcome.MET
    if code == _IN_PROGRESS:
        return Outcome.RUNNING
    if code in _THROTTLES:
        return Outcome.BUSY
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return Outcome.LOST if status >= SERVER_ERROR else Outcome.DECIDED


def _outcome_of_cancellation(error: ClientError) -> Outcome:
    """A cancelled transaction did nothing; a reason beside conflict and throttling decides."""
    codes = {reason.get("Code", "None") for reason in reasons_of(error)} - {"None"}
    if codes and codes <= CONFLICTS:
        return Outcome.MET
    return Outcome.BUSY if codes and codes <= _THROTTLES | CONFLICTS else Outcome.DECIDED


def reasons_of(error: ClientError) -> list[dict[str, str]]:
    """For each item of a cancelled transaction why it refused; its ``Code`` is ``None`` where it did not."""
    return error.response.get("CancellationReasons", [])  # type: ignore[return-value] # not in botocore's types
