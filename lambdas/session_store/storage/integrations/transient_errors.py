"""Calls to services beside the tables, of which each may be made again without harm."""

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
"""What services call throttling beside the names that DynamoDB has for it, and an iterator that waited too
long."""


@contextmanager
def transient_as_throttled(what: str) -> Iterator[None]:
    """No answer, a fault on the other side and throttling mean to try again later; a refusal flies on.

    Raises:
        ThrottledError
    """
    try:
        yield
    except (ClientError, BrokenConnectionError, HTTPClientError) as error:
        if outcome_of(error) is Outcome.REJECTED and error_code(error) not in BUSY:
            raise
        raise ThrottledError(f"{what} is busy or did not answer; try again.") from error
