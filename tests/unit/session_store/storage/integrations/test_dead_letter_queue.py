"""Letters are received, removed and released."""

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from session_store.domain.dead_letter import Unreadable
from session_store.errors import ThrottledError
from session_store.storage.integrations.cleanup_queue import message_of
from session_store.storage.integrations.dead_letter_queue import SqsDeadLetterQueue, read_session_end
from tests.support.dead_letters import SENT, a_letter, a_range, an_end

URL = "https://sqs.us-east-1.amazonaws.com/111122223333/letters"


class Stubbed:
    def __init__(self) -> None:
        sqs = boto3.client("sqs", region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s")
        self.stubber = Stubber(sqs)
        self.stubber.activate()
        self.queue = SqsDeadLetterQueue(sqs=sqs, url=URL, read=read_session_end)

    def answers(self, method: str, answer: dict[str, Any], expected: dict[str, Any] | None = None) -> None:
        self.stubber.add_response(method, answer, expected)

    def refuses(self, method: str, code: str, status: int = 400) -> None:
        self.stubber.add_client_error(method, code, http_status_code=status)


@pytest.fixture
def stubbed() -> Stubbed:
    return Stubbed()


def test_the_depth_includes_letters_in_flight(stubbed: Stubbed) -> None:
    names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
    stubbed.answers(
        "get_queue_attributes",
        {"Attributes": dict(zip(names, ["3", "2"], strict=True))},
        {"QueueUrl": URL, "AttributeNames": names},
    )
    assert stubbed.queue.depth() == 5


def test_a_letter_is_received_for_as_long_as_is_asked_for(stubbed: Stubbed) -> None:
    message = {
        "MessageId": "m",
        "ReceiptHandle": "r",
        "Body": message_of(an_end()),
        "Attributes": {"SentTimestamp": str(SENT), "ApproximateReceiveCount": "4"},
    }
    stubbed.answers(
        "receive_message",
        {"Messages": [message]},
        {
            "QueueUrl": URL,
            "MaxNumberOfMessages": 10,
            "VisibilityTimeout": 30,
            "WaitTimeSeconds": 1,
            "MessageSystemAttributeNames": ["SentTimestamp", "ApproximateReceiveCount"],
        },
    )
    (letter,) = stubbed.queue.receive(most=50, hidden=30)
    assert letter == a_letter(an_end(), message_id="m", receipt="r", receive_count=4)


def test_a_body_that_is_no_end_of_a_session_is_unreadable() -> None:
    unreadable = (Unreadable(reason="not the end of a session"), None)
    for body in ("", "{", "null", "[]", "{}", message_of(an_end()).replace("expired", "lost")):
        assert read_session_end(body) == unreadable


def test_letters_are_given_back_at_once(stubbed: Stubbed) -> None:
    letters = [a_letter(a_range(1, 1), receipt=f"r{place}") for place in range(12)]
    for letter in letters:
        expected = {"QueueUrl": URL, "ReceiptHandle": letter.receipt, "VisibilityTimeout": 0}
        stubbed.answers("change_message_visibility", {}, expected)
    stubbed.queue.release(letters)
    stubbed.stubber.assert_no_pending_responses()


def test_letters_that_cannot_be_given_back_now_come_back_by_themselves(stubbed: Stubbed) -> None:
    stubbed.refuses("change_message_visibility", "InternalError", 500)
    stubbed.queue.release([a_letter(a_range(1, 1), receipt=f"r{place}") for place in range(3)])
    stubbed.stubber.assert_no_pending_responses()


@pytest.mark.parametrize("code", ["AWS.SimpleQueueService.MessageNotInflight", "ReceiptHandleIsInvalid"])
def test_a_letter_that_is_no_longer_held_does_not_stop_the_release_of_others(
    stubbed: Stubbed, code: str
) -> None:
    stubbed.refuses("change_message_visibility", code)
    stubbed.answers("change_message_visibility", {})
    stubbed.queue.release([a_letter(a_range(1, 1), receipt=f"r{place}") for place in range(2)])
    stubbed.stubber.assert_no_pending_responses()


def test_a_letter_that_another_removed_is_removed(stubbed: Stubbed) -> None:
    stubbed.refuses("delete_message", "ReceiptHandleIsInvalid")
    stubbed.queue.remove(a_letter(a_range(1, 1), receipt="r"))


def test_a_throttled_queue_is_a_busy_store_and_a_refusal_passes_through(stubbed: Stubbed) -> None:
    letter = a_letter(a_range(1, 1), receipt="r")
    stubbed.refuses("delete_message", "RequestThrottled", 403)
    with pytest.raises(ThrottledError, match="The dead-letter queue is busy"):
        stubbed.queue.remove(letter)
    stubbed.refuses("delete_message", "AccessDenied", 403)
    with pytest.raises(ClientError, match="AccessDenied"):
        stubbed.queue.remove(letter)
