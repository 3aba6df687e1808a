"""How often a call is retried, and what is known when it is never answered."""

from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
    SSLError,
)

from session_store.deadline import Deadline
from session_store.errors import OutcomeUnknownError, StoreError, ThrottledError
from session_store.storage.dynamodb.attempts import (
    ATTEMPT_SECONDS,
    ATTEMPTS,
    CONFLICT_RETRIES,
    Attempts,
    Outcome,
    RejectedError,
    outcome_of,
)

URL = "https://dynamodb.us-east-1.amazonaws.com"


def failed(code: str, *, status: int = 400, reasons: tuple[str, ...] = ()) -> ClientError:
    response: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    if reasons:
        response["CancellationReasons"] = [{"Code": reason} for reason in reasons]
    return ClientError(response, "UpdateItem")


def cancelled(*reasons: str) -> ClientError:
    return failed("TransactionCanceledException", reasons=reasons)


THROTTLED = failed("ThrottlingException")
CONFLICT = failed("TransactionConflictException")
IN_PROGRESS = failed("TransactionInProgressException")
REFUSED = failed("ConditionalCheckFailedException")
LOST = ConnectionClosedError(endpoint_url=URL)
UNSENT = ConnectTimeoutError(endpoint_url=URL)


class Tried:
    """Attempts whose answers a test gives in turn, the last one again and again; each takes ``takes`` s."""

    def __init__(
        self, *answers: Exception | str, left: float = float("inf"), takes: float = 0, **limits: float
    ) -> None:
        self.now = 0.0
        self.sent = 0
        self.pauses: list[float] = []
        self.spans: list[tuple[float, float]] = []
        self._answers = answers
        self._takes = takes
        deadline = Deadline(monotonic=lambda: self.now)
        deadline.expires_in(left)
        self._attempts = Attempts(deadline=deadline, sleep=self._sleep, uniform=self._uniform, **limits)

    def run(self) -> str:
        return self._attempts.call_with_retries(self._call)

    def _call(self) -> str:
        answer = self._answers[min(self.sent, len(self._answers) - 1)]
        self.sent += 1
        self.now += self._takes
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _sleep(self, pause: float) -> None:
        self.pauses.append(pause)
        self.now += pause

    def _uniform(self, low: float, high: float) -> float:
        self.spans.append((low, high))
        return high


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (REFUSED, Outcome.REJECTED),
        (failed("ValidationException"), Outcome.REJECTED),
        (failed(""), Outcome.REJECTED),
        (CONFLICT, Outcome.CONFLICT),
        (IN_PROGRESS, Outcome.IN_PROGRESS),
        *((failed(code), Outcome.BUSY) for code in ("ThrottlingException", "RequestLimitExceeded")),
        (failed("ProvisionedThroughputExceededException"), Outcome.BUSY),
        (failed("InternalServerError", status=500), Outcome.LOST),
        (failed("ServiceUnavailable", status=503), Outcome.LOST),
        (failed("", status=500), Outcome.LOST),
        (failed("502", status=502), Outcome.LOST),
        (failed("Unheard-of", status=504), Outcome.LOST),
        (failed("ThrottlingException", status=503), Outcome.BUSY),
        (cancelled("None", "TransactionConflict"), Outcome.CONFLICT),
        (cancelled("ThrottlingError", "None"), Outcome.BUSY),
        (cancelled("ProvisionedThroughputExceeded", "TransactionConflict"), Outcome.BUSY),
        (cancelled("TransactionConflict", "ConditionalCheckFailed"), Outcome.REJECTED),
        (cancelled("ThrottlingError", "ValidationError"), Outcome.REJECTED),
        (cancelled(), Outcome.REJECTED),
        (LOST, Outcome.LOST),
        (ReadTimeoutError(endpoint_url=URL), Outcome.LOST),
        (SSLError(endpoint_url=URL, error=OSError()), Outcome.LOST),
        (UNSENT, Outcome.BUSY),
        (EndpointConnectionError(endpoint_url=URL), Outcome.BUSY),
    ],
)
def test_a_failure_says_what_is_known_of_the_request(error: Exception, outcome: Outcome) -> None:
    assert outcome_of(error) is outcome


@pytest.mark.parametrize(
    "failures", [(), (THROTTLED,), (CONFLICT,), (LOST, THROTTLED), (IN_PROGRESS, UNSENT)]
)
def test_a_call_is_retried_until_it_is_answered(failures: tuple[Exception, ...]) -> None:
    tried = Tried(*failures, "answer")
    assert tried.run() == "answer"
    assert tried.sent == len(failures) + 1


@pytest.mark.parametrize(
    ("failures", "sent", "error"),
    [
        ((THROTTLED,), ATTEMPTS, ThrottledError),
        ((UNSENT,), ATTEMPTS, ThrottledError),
        ((LOST,), ATTEMPTS, OutcomeUnknownError),
        ((failed("", status=500),), ATTEMPTS, OutcomeUnknownError),
        ((LOST, THROTTLED), ATTEMPTS, OutcomeUnknownError),
        ((LOST, UNSENT), ATTEMPTS, OutcomeUnknownError),
        ((THROTTLED, LOST, THROTTLED), ATTEMPTS, OutcomeUnknownError),
        ((CONFLICT,), CONFLICT_RETRIES + 1, ThrottledError),
        ((IN_PROGRESS,), CONFLICT_RETRIES + 1, OutcomeUnknownError),
        ((LOST, CONFLICT), CONFLICT_RETRIES + 2, OutcomeUnknownError),
        ((IN_PROGRESS, THROTTLED), ATTEMPTS + 1, OutcomeUnknownError),
        ((CONFLICT, THROTTLED), ATTEMPTS + 1, ThrottledError),
    ],
)
def test_nothing_happened_is_said_only_where_that_is_known(
    failures: tuple[Exception, ...], sent: int, error: type[StoreError]
) -> None:
    tried = Tried(*failures)
    with pytest.raises(error):
        tried.run()
    assert tried.sent == sent


@pytest.mark.parametrize(
    ("before", "answer_lost"),
    [
        ((), False),
        ((THROTTLED,), False),
        ((CONFLICT, UNSENT), False),
        ((LOST,), True),
        ((IN_PROGRESS,), True),
        ((LOST, THROTTLED), True),
    ],
)
def test_a_refusal_says_whether_an_earlier_response_was_lost(
    before: tuple[Exception, ...], *, answer_lost: bool
) -> None:
    tried = Tried(*before, REFUSED)
    with pytest.raises(RejectedError) as rejected:
        tried.run()
    assert (rejected.value.error, rejected.value.answer_lost) == (REFUSED, answer_lost)
    assert tried.sent == len(before) + 1


def test_pauses_grow_with_full_jitter() -> None:
    tried = Tried(CONFLICT)
    with pytest.raises(ThrottledError):
        tried.run()
    spans = [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0]
    assert (tried.pauses, tried.spans) == (spans, [(0, span) for span in spans])


@pytest.mark.parametrize(
    ("first", "error"),
    [
        (THROTTLED, ThrottledError),
        (CONFLICT, ThrottledError),
        (LOST, OutcomeUnknownError),
        (IN_PROGRESS, OutcomeUnknownError),
    ],
)
def test_no_attempt_is_begun_that_the_deadline_could_cut_off(
    first: Exception, error: type[StoreError]
) -> None:
    tried = Tried(first, "too late", left=ATTEMPT_SECONDS + 1, takes=1)
    with pytest.raises(error):
        tried.run()
    assert tried.sent == 1


def test_nothing_is_sent_with_less_time_left_than_an_attempt_may_take() -> None:
    late = Tried("too late", left=ATTEMPT_SECONDS - 0.001)
    with pytest.raises(ThrottledError):
        late.run()
    assert late.sent == 0
    assert Tried("in time", left=ATTEMPT_SECONDS).run() == "in time"


@pytest.mark.parametrize(("first", "error"), [(THROTTLED, ThrottledError), (LOST, OutcomeUnknownError)])
def test_a_request_is_not_sent_again_after_the_time_within_which_it_may_be(
    first: Exception, error: type[StoreError]
) -> None:
    late = Tried(first, "too late", takes=1, retry_within=1)
    with pytest.raises(error):
        late.run()
    assert late.sent == 1
    assert Tried(first, "in time", takes=1, retry_within=1.1).run() == "in time"
    assert Tried("at once", retry_within=-1).run() == "at once"


@pytest.mark.parametrize("error", [KeyError("x"), RuntimeError("x")])
def test_an_error_that_is_no_failed_call_passes_through(error: Exception) -> None:
    with pytest.raises(type(error)):
        Tried(error).run()
