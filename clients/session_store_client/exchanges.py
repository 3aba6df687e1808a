"""When a call is sent, sent again and given up: decided here once, without I/O, for every client.

An exchange is a generator. It yields what is to be done, is sent what came of it, and returns the answer.
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
from session_store_client.problems import Received, error_of, retry_after

AnswerT = TypeVar("AnswerT")
LOG: Final = logging.getLogger("session_store_client")
KEY_BYTES: Final = 20
SUCCESS: Final = range(200, 300)

CONCLUSIVE: Final[Mapping[Repeat, tuple[type[errors.SessionStoreError], ...]]] = {
    # What the store recognises it judges first: had the earlier attempt been done, this were no refusal.
    Repeat.RECOGNISED: (
        errors.NotFoundError,
        errors.SessionClosedError,
        errors.VersionConflictError,
        errors.InvalidTransitionError,
        errors.FencedError,
        errors.ContentConflictError,
        errors.IdempotencyMismatchError,
        errors.PayloadTooLargeError,
    ),
    # The same, but that a session is closed now: some of it may be there, or land still.
    Repeat.ADDED: (
        errors.NotFoundError,
        errors.ContentConflictError,
        errors.IdempotencyMismatchError,
        errors.PayloadTooLargeError,
    ),
    # Whatever the earlier attempt did is gone with the session.
    Repeat.GUARDED: (errors.NotFoundError,),
    # A session that is there has not been deleted, for ids never come back.
    Repeat.GONE: (errors.VersionConflictError,),
}
"""Refusals that are the truth about the whole call, also after an attempt whose answer was lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How long and how often. Times are in seconds.

    ``deadline`` bounds the call: neither an attempt nor a pause is begun past it. ``attempt`` bounds each
    wait for the API, whose gateway answers within 30 s. Pauses have full jitter: anything up to ``pause``
    doubled with each attempt, at most ``longest_pause``, after what the API asked for with ``Retry-After``.
    """

    attempts: int = 5
    deadline: float = 60.0
    attempt: float = 30.0
    pause: float = 0.1
    longest_pause: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a client adds to every call. ``decimals``: see ``exact_json.decode``."""

    url: str
    authentication: Authentication
    subject: str | None = None
    retries: Retries = field(default_factory=Retries)
    decimals: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Sign this and send it; answer with ``Received`` or ``Lost``."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    timeout: float


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer came. ``sent``: whether the API may have had the request."""

    error: Exception
    sent: bool


Step = Attempt | Pause
Event = Received | Lost | None


def exchange(
    call: Call[AnswerT],
    setting: Setting,
    *,
    clock: Callable[[], float] = time.monotonic,
    jitter: Callable[[float, float], float] = random.uniform,
) -> Generator[Step, Event, AnswerT]:
    """Raises:
    SessionStoreError: the call is refused, given up, or its outcome is unknown.
    """
    retries, until = setting.retries, clock() + setting.retries.deadline
    headers = _headers(call, setting)
    body = b"" if call.body is None else encode(call.body)
    in_doubt = False
    for number in range(1, retries.attempts + 1):
        timeout = min(retries.attempt, until - clock())
        try:
            event = yield Attempt(
                method=call.method, url=setting.url + call.target, headers=headers, body=body, timeout=timeout
            )
        except Exception as error:
            # Whoever signs may fail too, and hides nothing of an attempt before.
            if in_doubt:
                raise _unknown(call) from error
            raise
        if isinstance(event, Received) and event.status in SUCCESS:
            return decode(event.body or b"null", call.answer, decimals=setting.decimals)
        failure = _failure(event)
        if in_doubt and call.repeat is Repeat.GONE and isinstance(failure.error, errors.SessionNotFoundError):
            return decode(b"null", call.answer, decimals=False)
        in_doubt = in_doubt or (failure.may_be_done and call.repeat is not Repeat.FREELY)
        wait = failure.retry_after + jitter(
            0.0, min(retries.longest_pause, retries.pause * 2 ** (number - 1))
        )
        is_last = number == retries.attempts or clock() + wait >= until
        if is_last or not failure.passes or (failure.may_be_done and call.repeat is Repeat.NEVER):
            raise _verdict(call, failure.error, in_doubt=in_doubt)
        LOG.debug("%s %s again in %.2f s: %s", call.method, call.path, wait, type(failure.error).__name__)
        yield Pause(wait)
    raise AssertionError("the last attempt ends the loop")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """``passes``: trying again can help. ``may_be_done``: this attempt may have taken effect all the same."""

    error: errors.SessionStoreError
    passes: bool
    may_be_done: bool
    retry_after: float = 0.0


def _failure(event: Event) -> _Failure:
    if isinstance(event, Lost):
        error = errors.UnreachableError(f"No answer came: {type(event.error).__name__}")
        error.__cause__ = event.error
        return _Failure(error=error, passes=True, may_be_done=event.sent)
    if event is None:
        raise TypeError("an attempt is answered with what came of it")
    refusal = error_of(event)
    waits = isinstance(refusal, errors.ThrottledError | errors.InProgressError)
    broken = isinstance(refusal, errors.ServerError | errors.OutcomeUnknownError)
    return _Failure(
        error=refusal,
        passes=waits or broken,
        may_be_done=broken,
        retry_after=retry_after(event) if waits else 0.0,
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
    detail = f"{call.method} {call.path} may or may not have been done. Read, then decide."
    if error is None:
        return errors.OutcomeUnknownError(detail)
    return errors.OutcomeUnknownError(
        detail, slug=error.slug, status=error.status, request_id=error.request_id, facts=error.facts
    )


def _headers(call: Call[AnswerT], setting: Setting) -> dict[str, str]:
    """One key for the whole call: every attempt bears the same."""
    headers = {"accept": "application/json", **call.headers}
    if call.body is not None:
        headers["content-type"] = "application/json"
    if setting.subject is not None:
        headers["session-subject"] = setting.subject
    if call.keyed:
        headers["idempotency-key"] = secrets.token_urlsafe(KEY_BYTES)
    return headers
