"""The meaning of S3's answers about payloads."""

import io
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ConnectionClosedError
from botocore.response import StreamingBody
from botocore.stub import Stubber

from session_store.deadline import Deadline
from session_store.errors import ThrottledError
from session_store.storage.dynamodb.attempts import ATTEMPT_SECONDS, Attempts
from session_store.storage.integrations.payload_bucket import PayloadBucket

KEY = "session/sk/sha"


class StubbedBucket:
    def __init__(self) -> None:
        make: Any = boto3.client
        s3 = make("s3", region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s")
        self.stubber = Stubber(s3)
        self.stubber.activate()
        self.deadline = Deadline(monotonic=lambda: 0.0)
        attempts = Attempts(deadline=self.deadline, sleep=lambda _: None)
        self.payloads = PayloadBucket(s3=s3, bucket="payloads", attempts=attempts)

    def answers(self, text: bytes, *, length: int | None = None) -> None:
        body = StreamingBody(io.BytesIO(text), len(text) if length is None else length)
        self.stubber.add_response("get_object", {"Body": body}, {"Bucket": "payloads", "Key": KEY})

    def fails(self, method: str, code: str, *, status: int, times: int = 1) -> None:
        for _ in range(times):
            self.stubber.add_client_error(method, code, http_status_code=status)


@pytest.fixture
def bucket() -> StubbedBucket:
    return StubbedBucket()


@pytest.mark.parametrize(("code", "status"), [("NoSuchKey", 404), ("AccessDenied", 403)])
def test_a_missing_or_unreadable_object_is_none(bucket: StubbedBucket, code: str, status: int) -> None:
    bucket.fails("get_object", code, status=status)
    assert bucket.payloads.get(KEY) is None


def test_another_refusal_passes_through(bucket: StubbedBucket) -> None:
    bucket.fails("get_object", "NoSuchBucket", status=404)
    with pytest.raises(ClientError):
        bucket.payloads.get(KEY)


@pytest.mark.parametrize(
    ("code", "status"), [("SlowDown", 503), ("InternalError", 500), ("RequestTimeout", 400)]
)
def test_a_short_outage_is_retried_and_a_long_one_is_reported(
    bucket: StubbedBucket, code: str, status: int
) -> None:
    bucket.fails("get_object", code, status=status, times=2)
    bucket.answers(b"[1]")
    assert bucket.payloads.get(KEY) == b"[1]"
    bucket.fails("put_object", code, status=status, times=3)
    with pytest.raises(ThrottledError):
        bucket.payloads.put(KEY, b"[1]")
    bucket.stubber.assert_no_pending_responses()


def test_a_body_that_breaks_off_is_read_again(bucket: StubbedBucket) -> None:
    bucket.answers(b"[1", length=3)
    bucket.answers(b"[1]")
    assert bucket.payloads.get(KEY) == b"[1]"


def test_a_connection_that_breaks_is_a_busy_store(bucket: StubbedBucket) -> None:
    def broken(**_: object) -> None:
        raise ConnectionClosedError(endpoint_url="https://s3")

    bucket.payloads.s3.meta.events.register("provide-client-params.s3", broken)
    with pytest.raises(ThrottledError):
        bucket.payloads.get(KEY)


def test_nothing_is_begun_that_the_request_has_no_time_for(bucket: StubbedBucket) -> None:
    bucket.deadline.expires_in(ATTEMPT_SECONDS - 0.1)
    bucket.answers(b"[1]")
    with pytest.raises(ThrottledError):
        bucket.payloads.get(KEY)
