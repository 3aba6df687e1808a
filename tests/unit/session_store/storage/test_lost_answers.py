"""A write whose response is lost may have happened; a read may be tried again."""

import pytest
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)

from session_store.errors import OutcomeUnknownError, ThrottledError
from session_store.storage.dynamodb.client import ConditionFailedError, TransactionRefusedError
from tests.support.stubbed import ITEM, READS, WRITES, Stubbed

EACH_WRITE = pytest.mark.parametrize("method", WRITES)
EACH_READ = pytest.mark.parametrize("method", READS)
EACH_5XX = pytest.mark.parametrize(
    ("code", "status"), [("InternalServerError", 500), ("ServiceUnavailable", 503), ("", 502)]
)
URL = "https://dynamodb.us-east-1.amazonaws.com"
EACH_LOSS = pytest.mark.parametrize(
    "error", [ConnectionClosedError(endpoint_url=URL), ReadTimeoutError(endpoint_url=URL)]
)
NEVER_SENT = pytest.mark.parametrize(
    "error", [ConnectTimeoutError(endpoint_url=URL), EndpointConnectionError(endpoint_url=URL)]
)


@EACH_WRITE
@EACH_5XX
def test_a_write_that_failed_inside_may_have_happened(
    stubbed: Stubbed, method: str, code: str, status: int
) -> None:
    stubbed.fails(method, code, status=status, times=3)
    with pytest.raises(OutcomeUnknownError):
        WRITES[method](stubbed)


@EACH_READ
@EACH_5XX
def test_a_read_that_failed_inside_may_be_tried_again(
    stubbed: Stubbed, method: str, code: str, status: int
) -> None:
    stubbed.fails(method, code, status=status, times=3)
    with pytest.raises(ThrottledError):
        READS[method](stubbed)


@EACH_WRITE
@EACH_LOSS
def test_a_write_whose_answer_is_lost_may_have_happened(
    stubbed: Stubbed, method: str, error: Exception
) -> None:
    stubbed.loses(error)
    with pytest.raises(OutcomeUnknownError):
        WRITES[method](stubbed)


@EACH_WRITE
@NEVER_SENT
def test_a_write_that_was_never_sent_has_not_happened(
    stubbed: Stubbed, method: str, error: Exception
) -> None:
    stubbed.loses(error)
    with pytest.raises(ThrottledError):
        WRITES[method](stubbed)


@EACH_READ
@EACH_LOSS
def test_a_read_whose_answer_is_lost_may_be_tried_again(
    stubbed: Stubbed, method: str, error: Exception
) -> None:
    stubbed.loses(error)
    with pytest.raises(ThrottledError):
        READS[method](stubbed)


@EACH_WRITE
def test_a_write_throttled_after_a_lost_answer_may_have_happened(stubbed: Stubbed, method: str) -> None:
    stubbed.fails(method, "InternalServerError", status=500)
    stubbed.fails(method, "ThrottlingException", times=2)
    with pytest.raises(OutcomeUnknownError):
        WRITES[method](stubbed)


def test_a_transaction_in_progress_to_the_end_may_have_happened(stubbed: Stubbed) -> None:
    stubbed.fails("transact_write_items", "TransactionInProgressException", times=9)
    with pytest.raises(OutcomeUnknownError):
        stubbed.transact()


@pytest.mark.parametrize("lost", [False, True])
def test_a_failed_condition_says_whether_an_answer_was_lost_before(stubbed: Stubbed, *, lost: bool) -> None:
    for method in WRITES:
        if lost:
            stubbed.fails(method, "InternalServerError", status=500)
        if method == "transact_write_items":
            stubbed.cancels("ConditionalCheckFailed", Item=ITEM)
        else:
            stubbed.fails(method, "ConditionalCheckFailedException", Item=ITEM)
        with pytest.raises((ConditionFailedError, TransactionRefusedError)) as failed:
            WRITES[method](stubbed)
        assert isinstance(failed.value, ConditionFailedError | TransactionRefusedError)
        assert failed.value.answer_lost == lost
