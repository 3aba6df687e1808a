"""Retries of a request to AWS, and what is known when none of them is answered.

The caller builds a request once; every attempt sends it unchanged. The botocore client itself retries
nothing, because that would hide a lost response: after one, no later refusal may claim that nothing
happened.
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
"""Longest duration of one attempt; no attempt starts with less than this left before the deadline."""

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
    """What a failed attempt says about the request."""

    REJECTED = auto()
    """DynamoDB evaluated and refused the request; a retry would be refused in the same way."""

    CONFLICT = auto()
    """Another write was in progress on the same item. Nothing was done."""

    BUSY = auto()
    """Throttled, or never sent. Nothing was done."""

    LOST = auto()
    """The response was lost: the request may have been done."""

    IN_PROGRESS = auto()
    """An earlier attempt of the same request is still being processed."""


class RejectedError(Exception):
    """The service refused the request; ``answer_lost``: the response to an earlier attempt was lost."""

    def __init__(self, error: ClientError, *, answer_lost: bool) -> None:
        super().__init__()
        self.error = error
        self.answer_lost = answer_lost


class Attempts(Struct, frozen=True, kw_only=True):
    """Retries until the deadline, with backoff and full jitter (*Exponential Backoff And Jitter*).

    ``retry_within``: seconds after which a request is not sent again, because what it says may have ended.
    """

    deadline: Deadline = field(default_factory=Deadline)
    retry_within: float = float("inf")
    sleep: Callable[[float], None] = time.sleep
    uniform: Callable[[float, float], float] = random.uniform

    def call_with_retries(self, call: Callable[[], Answer]) -> Answer:
        """The answer of ``call``, retried until it is answered, refused or out of attempts or time.

        Raises:
            RejectedError: the service refused the request.
            ThrottledError: every attempt failed without effect.
            OutcomeUnknownError: a response was lost, and no later attempt showed whether it was done.
        """
        left = {Outcome.CONFLICT: CONFLICT_RETRIES, Outcome.IN_PROGRESS: CONFLICT_RETRIES}
        others = ATTEMPTS - 1
        lost = False
        retried_until = self.deadline.another(self.retry_within)
        for attempt in range(2 * CONFLICT_RETRIES + ATTEMPTS):
            if self.deadline.remaining() < ATTEMPT_SECONDS:
                break
            if attempt and retried_until.remaining() <= 0:
                break
            try:
                return call()
            except (ClientError, BrokenConnectionError, HTTPClientError) as error:
                outcome = outcome_of(error)
                if outcome is Outcome.REJECTED and isinstance(error, ClientError):
                    raise RejectedError(error, answer_lost=lost) from error
            lost = lost or outcome in (Outcome.LOST, Outcome.IN_PROGRESS)
            if outcome in left:
                left[outcome] -= 1
            else:
                others -= 1
            if others < 0 or min(left.values()) < 0:
                break
            self.pause(attempt)
        raise OutcomeUnknownError if lost else ThrottledError

    def pause(self, attempt: int) -> None:
        """Sleep for a random part of the backoff that follows attempt number ``attempt`` (from 0)."""
        self.sleep(self.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)))


def outcome_of(error: Exception) -> Outcome:
    """Classify the failure of one attempt."""
    if not isinstance(error, ClientError):
        unsent = isinstance(error, ConnectTimeoutError | EndpointConnectionError)
        return Outcome.BUSY if unsent else Outcome.LOST
    code = error_code(error)
    if code == "TransactionCanceledException":
        return _outcome_of_cancellation(error)
    if code in CONFLICTS:
        return Outcome.CONFLICT
    if code == _IN_PROGRESS:
        return Outcome.IN_PROGRESS
    if code in _THROTTLES:
        return Outcome.BUSY
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return Outcome.LOST if status >= SERVER_ERROR else Outcome.REJECTED


def _outcome_of_cancellation(error: ClientError) -> Outcome:
    """A cancelled transaction did nothing. Any reason other than a conflict or throttling rejects it."""
    codes = {reason.get("Code", "None") for reason in reasons_of(error)} - {"None"}
    if codes and codes <= CONFLICTS:
        return Outcome.CONFLICT
    return Outcome.BUSY if codes and codes <= _THROTTLES | CONFLICTS else Outcome.REJECTED


def error_code(error: Exception) -> str:
    """The error code of a response, without the namespace that SQS adds; empty if there is none."""
    code = error.response.get("Error", {}).get("Code", "") if isinstance(error, ClientError) else ""
    return code.rpartition(".")[2]


def reasons_of(error: ClientError) -> list[dict[str, str]]:
    """One reason for each item of a cancelled transaction; ``Code`` is ``"None"`` where it has none."""
    return error.response.get("CancellationReasons", [])  # type: ignore[return-value] # not in botocore's types
