"""When a call is sent, retried and given up, decided without I/O for both clients.

An exchange is a generator: it yields the next step, is sent the step's result, and returns the answer.
"""

import logging
import random
import secrets
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from session_store_client import errors
from session_store_client.authentication import Authentication
from session_store_client.calls import Call, Repeat
from session_store_client.exact_json import decode, encode
from session_store_client.problems import HttpResponse, error_from, retry_after_seconds

AnswerT = TypeVar("AnswerT")
LOG: Final = logging.getLogger("session_store_client")
KEY_BYTES: Final = 20
SUCCESS: Final = range(200, 300)

CONCLUSIVE: Final[Mapping[Repeat, tuple[type[errors.SessionStoreError], ...]]] = {
    # The store recognises a repetition before it checks anything else, so a refusal means that no earlier
    # attempt took effect.
    Repeat.RECOGNISED: (
        errors.NotFoundError,
        errors.SessionClosedError,
        errors.VersionConflictError,
        errors.InvalidTransitionError,
        errors.FencedError,
        errors.AlreadyDecidedError,
        errors.ContentConflictError,
        errors.IdempotencyMismatchError,
        errors.PayloadTooLargeError,
    ),
    # Likewise, except that the session may have been closed after an attempt that stored some of it.
    Repeat.RECOGNISED_APPEND: (
        errors.NotFoundError,
        errors.ContentConflictError,
        errors.IdempotencyMismatchError,
        errors.PayloadTooLargeError,
    ),
    # Whatever an earlier attempt did is gone with the session.
    Repeat.CONDITIONAL: (errors.NotFoundError,),
    # Likewise; and an attempt that is in progress has not been settled.
    Repeat.RECONCILIATION: (errors.NotFoundError, errors.InProgressError),
    # A session that exists has not been deleted: ids are never used twice.
    Repeat.DELETION: (errors.VersionConflictError,),
}
"""Refusals that hold for the whole call, even after an attempt whose response was lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and how long a call is retried. Times are in seconds.

    ``deadline_seconds`` bounds the call: no attempt or pause begins past it. ``attempt_seconds`` bounds each
    wait for the API, whose gateway answers within 30 s. A pause is what ``Retry-After`` asks for plus full
    jitter: a random time up to ``pause_seconds``, doubled with each attempt, at most
    ``longest_pause_seconds``.
    """

    attempts: int = 5
    deadline_seconds: float = 60.0
    attempt_seconds: float = 30.0
    pause_seconds: float = 0.1
    longest_pause_seconds: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """What a client adds to every call. ``decimals`` as in ``exact_json.decode``."""

    url: str
    authentication: Authentication
    subject: str | None = None
    retries: Retries = field(default_factory=Retries)
    decimals: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A step: sign and send this. Its result is an ``HttpResponse`` or a ``TransportFailure``."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class Pause:
    """A step: wait. Its result is None."""

    seconds: float


@dataclass(frozen=True, slots=True)
class TransportFailure:
    """No response came. ``sent``: whether the API may have received the request."""

    error: Exception
    sent: bool


Step = Attempt | Pause
StepResult = HttpResponse | TransportFailure | None


def exchange(
    call: Call[AnswerT],
    settings: ClientSettings,
    *,
    clock: Callable[[], float] = time.monotonic,
    jitter: Callable[[float, float], float] = random.uniform,
) -> Generator[Step, StepResult, AnswerT]:
    """Send ``call`` with retries and return its answer.

    Raises:
        SessionStoreError: the call was refused or given up, or its outcome is unknown.
    """
    retries, until = settings.retries, clock() + settings.retries.deadline_seconds
    headers = _headers(call, settings)
    body = b"" if call.body is None else encode(call.body)
    in_doubt = False
    for number in range(1, retries.attempts + 1):
        timeout = min(retries.attempt_seconds, until - clock())
        try:
            result = yield Attempt(
                method=call.method,
                url=settings.url + call.target,
                headers=headers,
                body=body,
                timeout_seconds=timeout,
            )
        except Exception as error:
            # Signing may fail too; that must not hide an earlier attempt that may have taken effect.
            if in_doubt:
                raise _unknown(call) from error
            raise
        if isinstance(result, HttpResponse) and result.status in SUCCESS:
            return _answer(call, result, settings)
        failure = _failure(result, call.repeat)
        if (
            in_doubt
            and call.repeat is Repeat.DELETION
            and isinstance(failure.error, errors.SessionNotFoundError)
        ):
            return decode(b"null", call.answer, decimals=False)
        in_doubt = in_doubt or (failure.may_be_done and call.repeat is not Repeat.IDEMPOTENT)
        wait = failure.wait_seconds + jitter(
            0.0, min(retries.longest_pause_seconds, retries.pause_seconds * 2 ** (number - 1))
        )
        is_last = number == retries.attempts or clock() + wait >= until
        if is_last or not failure.is_transient or (failure.may_be_done and call.repeat is Repeat.NEVER):
            raise _verdict(call, failure.error, in_doubt=in_doubt)
        LOG.debug("%s %s again in %.2f s: %s", call.method, call.path, wait, type(failure.error).__name__)
        yield Pause(wait)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _answer(call: Call[AnswerT], response: HttpResponse, settings: ClientSettings) -> AnswerT:
    """Decode a successful response. If it cannot be read, a write may have taken effect."""
    try:
        return decode(response.body or b"null", call.answer, decimals=settings.decimals)
    except errors.UnreadableAnswerError as error:
        if call.repeat is Repeat.IDEMPOTENT:
            raise
        raise _unknown(call) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """``is_transient``: a retry can help. ``may_be_done``: the attempt may have taken effect nevertheless."""

    error: errors.SessionStoreError
    is_transient: bool
    may_be_done: bool
    wait_seconds: float = 0.0


def _failure(result: StepResult, repeat: Repeat) -> _Failure:
    if isinstance(result, TransportFailure):
        error = errors.UnreachableError(f"No response: {type(result.error).__name__}")
        error.__cause__ = result.error
        return _Failure(error=error, is_transient=True, may_be_done=result.sent)
    if result is None:
        raise TypeError("the result of an attempt is a response or a failure")
    refusal = error_from(result)
    waits = isinstance(refusal, errors.ThrottledError) or (
        isinstance(refusal, errors.InProgressError) and repeat is not Repeat.RECONCILIATION
    )
    broken = isinstance(refusal, errors.ServerError | errors.OutcomeUnknownError)
    return _Failure(
        error=refusal,
        is_transient=waits or broken,
        may_be_done=broken,
        wait_seconds=retry_after_seconds(result) if waits else 0.0,
    )


def _verdict(
    call: Call[AnswerT], error: errors.SessionStoreError, *, in_doubt: bool
) -> errors.SessionStoreError:
    if not in_doubt or isinstance(error, CONCLUSIVE.get(call.repeat, ())):
        return error
    unknown = _unknown(call, error)
    unknown.__cause__ = error
    return unknown


def _unknown(
    call: Call[AnswerT], error: errors.SessionStoreError | None = None
) -> errors.OutcomeUnknownError:
    detail = f"{call.method} {call.path} may or may not have taken effect. Read, then decide."
    if error is None:
        return errors.OutcomeUnknownError(detail)
    return errors.OutcomeUnknownError(
        detail, slug=error.slug, status=error.status, request_id=error.request_id, facts=error.facts
    )


def _headers(call: Call[AnswerT], settings: ClientSettings) -> dict[str, str]:
    """Headers of every attempt: the ``Idempotency-Key`` is one for the whole call."""
    headers = {"accept": "application/json", **call.headers}
    if call.body is not None:
        headers["content-type"] = "application/json"
    if settings.subject is not None:
        headers["session-subject"] = settings.subject
    if call.keyed:
        headers["idempotency-key"] = secrets.token_urlsafe(KEY_BYTES)
    return headers
