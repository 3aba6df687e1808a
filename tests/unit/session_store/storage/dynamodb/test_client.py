"""The meaning of DynamoDB's refusals, and batches."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from session_store.errors import PayloadTooLargeError, ThrottledError, UnfinishedError
from session_store.storage.dynamodb.client import (
    ConditionFailedError,
    SumOutOfRangeError,
    TransactionRefusedError,
)
from tests.support.stubbed import ITEM, KEY, READS, WRITES, Stubbed

CONDITION = "ConditionalCheckFailed"
CONFLICT = "TransactionConflict"
EACH_WRITE = pytest.mark.parametrize("method", WRITES)


@pytest.mark.parametrize("method", ["put_item", "update_item"])
def test_a_failed_condition_returns_the_stored_item(stubbed: Stubbed, method: str) -> None:
    stubbed.fails(method, "ConditionalCheckFailedException", Item=ITEM)
    stubbed.fails(method, "ConditionalCheckFailedException")
    held = []
    for _ in range(2):
        with pytest.raises(ConditionFailedError) as failed:
            WRITES[method](stubbed)
        held.append(failed.value.item)
    assert held == [ITEM, None]
    assert stubbed.pauses == []


def test_a_refused_transaction_says_which_item_refused(stubbed: Stubbed) -> None:
    stubbed.cancels("None", CONDITION, "None", CONDITION, Item=ITEM)
    with pytest.raises(TransactionRefusedError) as refused:
        stubbed.transact()
    assert refused.value.held == {1: None, 3: ITEM}


@pytest.mark.parametrize("other", [CONFLICT, "ThrottlingError", "ValidationError"])
def test_a_failed_condition_decides_beside_any_other_reason(stubbed: Stubbed, other: str) -> None:
    stubbed.cancels(other, CONDITION, Item=ITEM)
    with pytest.raises(TransactionRefusedError) as refused:
        stubbed.transact()
    assert refused.value.held == {1: ITEM}
    assert stubbed.pauses == []


@pytest.mark.parametrize("method", ["put_item", "update_item"])
def test_a_write_that_meets_a_transaction_is_tried_again(stubbed: Stubbed, method: str) -> None:
    stubbed.fails(method, "TransactionConflictException")
    stubbed.stubber.add_response(method, {"Attributes": ITEM})
    WRITES[method](stubbed)
    assert stubbed.pauses == [0.05]


def test_a_transaction_in_progress_is_tried_again(stubbed: Stubbed) -> None:
    stubbed.fails("transact_write_items", "TransactionInProgressException")
    stubbed.stubber.add_response("transact_write_items", {})
    stubbed.transact()
    assert stubbed.pauses == [0.05]


def test_after_eight_retries_the_store_is_busy(stubbed: Stubbed) -> None:
    stubbed.cancels("None", CONFLICT, times=9)
    with pytest.raises(ThrottledError):
        stubbed.transact()
    assert len(stubbed.pauses) == 8


def test_a_retry_sends_the_same_request(stubbed: Stubbed) -> None:
    expected = {
        "TransactItems": [{"Put": {"TableName": "sessions", "Item": ITEM}}],
        "ClientRequestToken": "t",
    }
    reasons = {"CancellationReasons": [{"Code": CONFLICT}]}
    stubbed.stubber.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        modeled_fields=reasons,
        expected_params=expected,
    )
    stubbed.stubber.add_response("transact_write_items", {}, expected)
    stubbed.transact()


def test_no_attempt_begins_where_the_deadline_is_near(stubbed: Stubbed) -> None:
    stubbed.deadline.expires_in(3.1)
    stubbed.cancels(CONFLICT, times=2)
    with pytest.raises(ThrottledError):
        stubbed.transact()
    assert stubbed.pauses == [0.05, 0.1]


THROTTLES = ["ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"]


@pytest.mark.parametrize("code", THROTTLES)
@pytest.mark.parametrize(("method", "call"), [*WRITES.items(), *READS.items()])
def test_throttling_to_the_end_is_a_busy_store(stubbed: Stubbed, method: str, call: Any, code: str) -> None:
    stubbed.fails(method, code, times=3)
    with pytest.raises(ThrottledError) as busy:
        call(stubbed)
    assert busy.value.facts == {}
    assert stubbed.pauses == [0.05, 0.1]


@pytest.mark.parametrize("code", ["ThrottlingError", "ProvisionedThroughputExceeded"])
@pytest.mark.parametrize("other", ["None", CONFLICT])
def test_a_transaction_throttled_to_the_end_is_a_busy_store(stubbed: Stubbed, code: str, other: str) -> None:
    stubbed.cancels(other, code, times=3)
    with pytest.raises(ThrottledError):
        stubbed.transact()
    assert stubbed.pauses == [0.05, 0.1]


def test_a_validation_error_beside_a_conflict_is_not_tried_again(stubbed: Stubbed) -> None:
    stubbed.cancels(CONFLICT, "ValidationError", Message="One or more parameter values were invalid")
    with pytest.raises(ClientError):
        stubbed.transact()
    assert stubbed.pauses == []


@EACH_WRITE
def test_an_unexpected_error_passes_through(stubbed: Stubbed, method: str) -> None:
    for code in ("ValidationException", "ResourceNotFoundException", "AccessDeniedException"):
        stubbed.fails(method, code, "The table or the request is wrong")
        with pytest.raises(ClientError):
            WRITES[method](stubbed)


@pytest.mark.parametrize(
    "message",
    [
        "Item size has exceeded the maximum allowed size",
        "Item size to update has exceeded the maximum allowed size",
    ],
)
def test_an_item_past_the_limit_is_too_large(stubbed: Stubbed, message: str) -> None:
    stubbed.fails("update_item", "ValidationException", message)
    stubbed.cancels("None", "ValidationError", Message=message)
    for method in ("update_item", "transact_write_items"):
        with pytest.raises(PayloadTooLargeError) as refused:
            WRITES[method](stubbed)
        assert refused.value.facts == {"limit": 409_600}


@pytest.mark.parametrize(
    "message",
    [
        "Number overflow. Attempting to store a number with magnitude larger than supported range",
        "Number underflow. Attempting to store a number with magnitude smaller than supported range",
        "Attempting to store more than 38 significant digits in a Number",
    ],
)
def test_a_sum_that_no_number_holds_is_told_from_other_errors(stubbed: Stubbed, message: str) -> None:
    stubbed.cancels("ValidationError", Message=message)
    with pytest.raises(SumOutOfRangeError):
        stubbed.transact()


def test_unprocessed_keys_are_requested_again_after_a_pause(stubbed: Stubbed) -> None:
    keys = [{"pk": {"S": "p"}, "sk": {"S": sk}} for sk in "abc"]

    def asked(*left: Any) -> dict[str, Any]:
        return {"sessions": {"Keys": list(left), "ConsistentRead": True}}

    for wanted, found, left in (
        (keys, keys[:1], keys[1:]),
        (keys[1:], keys[1:2], keys[2:]),
        (keys[2:], [], []),
    ):
        answer = {"Responses": {"sessions": found}, "UnprocessedKeys": asked(*left) if left else {}}
        stubbed.stubber.add_response("batch_get_item", answer, {"RequestItems": asked(*wanted)})
    assert stubbed.client.get_all(keys) == keys[:2]
    assert stubbed.pauses == [0.05, 0.1]


def test_a_batch_that_never_ends_is_a_busy_store(stubbed: Stubbed) -> None:
    again = {"Responses": {}, "UnprocessedKeys": {"sessions": {"Keys": [KEY]}}}
    for _ in range(8):
        stubbed.stubber.add_response("batch_get_item", again)
    with pytest.raises(ThrottledError):
        stubbed.client.get_all([KEY])


def test_reads_are_consistent(stubbed: Stubbed) -> None:
    expected = {"TableName": "sessions", "Key": KEY, "ConsistentRead": True}
    stubbed.stubber.add_response("get_item", {"Item": ITEM}, expected)
    stubbed.stubber.add_response("get_item", {}, expected)
    assert [stubbed.client.get(KEY), stubbed.client.get(KEY)] == [ITEM, None]


def leaves(stubbed: Stubbed, *keys: Any) -> None:
    """Answer a batch deletion with unprocessed items."""
    undone = {"sessions": [{"DeleteRequest": {"Key": key}} for key in keys]} if keys else {}
    stubbed.stubber.add_response("batch_write_item", {"UnprocessedItems": undone})


def test_unprocessed_deletions_are_requested_again_after_a_pause(stubbed: Stubbed) -> None:
    leaves(stubbed, KEY)
    leaves(stubbed, KEY)
    leaves(stubbed)
    stubbed.client.delete_all([KEY, {**KEY, "sk": {"S": "t"}}])
    assert stubbed.spans == [(0, 0.05), (0, 0.1)]


def test_a_deletion_gives_up_when_nothing_moves(stubbed: Stubbed) -> None:
    for _ in range(8):
        leaves(stubbed, KEY)
    with pytest.raises(UnfinishedError):
        stubbed.client.delete_all([KEY])


def test_a_deletion_gives_up_in_time(stubbed: Stubbed) -> None:
    stubbed.deadline.expires_in(3.04)
    leaves(stubbed, KEY)
    with pytest.raises(ThrottledError):
        stubbed.client.delete_all([KEY])
    assert stubbed.pauses == [0.05]
