"""The message of an ended session, and its delay."""

from typing import TYPE_CHECKING

import boto3
from botocore.stub import Stubber

from session_store.domain.session_end import EndReason, SessionEnd
from session_store.storage.integrations.cleanup_queue import SqsCleanupQueue, message_of, session_end_from
from tests.support.samples import NOW_MS, OWNER, SESSION_ID

if TYPE_CHECKING:
    from mypy_boto3_sqs.client import SQSClient

URL = "https://sqs.us-east-1.amazonaws.com/111122223333/cleanup"
END = SessionEnd(
    session_id=SESSION_ID,
    owner=OWNER,
    reason=EndReason.EXPIRED,
    status="active",
    version=7,
    created_at=NOW_MS,
    ended_at=NOW_MS + 1,
    credential_refs=("github/token",),
)


def test_an_end_waits_in_the_queue_until_a_put_in_flight_has_landed() -> None:
    sqs: SQSClient = boto3.client(
        "sqs", region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    with Stubber(sqs) as stubbed:
        request = {"QueueUrl": URL, "MessageBody": message_of(END), "DelaySeconds": 60}
        stubbed.add_response("send_message", {}, request)
        SqsCleanupQueue(sqs=sqs, url=URL, delay=60).send(END)
        stubbed.assert_no_pending_responses()


def test_an_end_is_read_as_it_was_sent() -> None:
    assert session_end_from(message_of(END)) == END
