"""A write whose answer is lost may have happened; a read may be tried again."""

import pytest
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)

from session_store.errors import OutcomeUnknownError, ThrottledError
from tests.support.stubbed import READS, WRITES, Stubbed

EACH_WRITE = pytest.mark.parametrize("method", WRITES)
EACH_READ = pytest.mark.parametrize("method", READS)


@EACH_WRITE
@pytest.mark.parametrize("code", ["InternalServerError", "ServiceUnavailable"])
def test_a_write_that_failed_inside_may_have_happened(stubbed: Stubbed, method: str, code: str) -> None:
    stubbed.fails(method, code)
    with pytest.raises(OutcomeUnknownError):
        WRITES[method](stubbed)


@EACH_READ
@pytest.mark.parametrize("code", ["InternalServerError", "ServiceUnavailable"])
def test_a_read_that_failed_inside_may_be_tried_again(stubbed: Stubbed, method: str, code: str) -> None:
    stubbed.fails(method, code)
    with pytest.raises(ThrottledError):
        READS[method](stubbed)


URL = "https://dynamodb.us-east-1.amazonaws.com"
LOST = pytest.mark.parametrize(
    "error",
    [
        ConnectionClosedError(endpoint_url=URL),
        ReadTimeoutError(endpoint_url=URL),
        ConnectTimeoutError(endpoint_url=URL),
        EndpointConnectionError(endpoint_url=URL),
    ],
)


@LOST
@EACH_WRITE
def test_a_write_whose_answer_is_lost_may_have_happened(
    stubbed: Stubbed, method: str, error: Exception
) -> None:
    stubbed.loses(error)
    with pytest.raises(OutcomeUnknownError):
        WRITES[method](stubbed)


@LOST
@EACH_READ
def test_a_read_whose_answer_is_lost_may_be_tried_again(
    stubbed: Stubbed, method: str, error: Exception
) -> None:
    stubbed.loses(error)
    with pytest.raises(ThrottledError):
        READS[method](stubbed)
