"""Transient errors of idempotent calls to services other than the tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BrokenConnectionError

from session_store.errors import ThrottledError
from session_store.storage.dynamodb.attempts import Outcome, error_code, outcome_of

BUSY: Final = frozenset(
    {
        "ExpiredIteratorException",
        "LimitExceededException",
        "RequestThrottled",
        "ThrottledException",
        "TooManyRequestsException",
    }
)
"""Further codes for throttling, beside those of DynamoDB, and for a shard iterator that expired."""


@contextmanager
def transient_as_throttled(what: str) -> Iterator[None]:
    """Raise a lost response, a server fault and throttling as ThrottledError; other errors pass through.

    Raises:
        ThrottledError: names ``what``.
    """
    try:
        yield
    except (ClientError, BrokenConnectionError, HTTPClientError) as error:
        if outcome_of(error) is Outcome.REJECTED and error_code(error) not in BUSY:
            raise
        raise ThrottledError(f"{what} is busy or did not answer; try again.") from error
