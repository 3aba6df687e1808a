"""Payloads that are too large for the table, in S3."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    FlexibleChecksumError,
    IncompleteReadError,
)
from msgspec import Struct, field

from session_store.errors import OutcomeUnknownError, ThrottledError, UnavailableError
from session_store.schema import payload_prefix
from session_store.storage.dynamodb.attempts import Attempts, RejectedError, error_code

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef

CONTENT_TYPE: Final = "application/json"
ABSENT: Final = frozenset({"AccessDenied", "NoSuchKey"})
"""Without permission to list a bucket, S3 reports a missing key as AccessDenied (*GetObject*)."""

SLOW: Final = "RequestTimeout"
"""S3's code, with status 400, for a request body that arrived too slowly."""

Answer = TypeVar("Answer")


class PayloadBucket(Struct, frozen=True, kw_only=True):
    """The payload bucket. ``s3`` is a client with timeouts; ``attempts`` retries instead of it."""

    s3: "S3Client"
    bucket: str
    attempts: Attempts = field(default_factory=Attempts)

    def put(self, key: str, text: bytes) -> None:
        self._call(
            lambda: self.s3.put_object(Bucket=self.bucket, Key=key, Body=text, ContentType=CONTENT_TYPE)
        )

    def get(self, key: str) -> bytes | None:
        try:
            return self._call(partial(self._read, key))
        except ClientError as error:
            if error_code(error) in ABSENT:
                return None
            raise

    def _read(self, key: str) -> bytes:
        body = self.s3.get_object(Bucket=self.bucket, Key=key)["Body"]
        try:
            return body.read()
        except (FlexibleChecksumError, IncompleteReadError) as error:
            raise self._broken() from error

    def _call(self, call: Callable[[], Answer]) -> Answer:
        try:
            return self.attempts.call_with_retries(partial(self._with_slow_body_as_broken, call))
        except RejectedError as rejected:
            raise rejected.error from rejected
        except OutcomeUnknownError as error:
            raise ThrottledError("The payload bucket did not answer in time; nothing was done.") from error

    def _with_slow_body_as_broken(self, call: Callable[[], Answer]) -> Answer:
        try:
            return call()
        except ClientError as error:
            if error_code(error) == SLOW:
                raise self._broken() from error
            raise

    def _broken(self) -> ConnectionClosedError:
        return ConnectionClosedError(endpoint_url=self.s3.meta.endpoint_url)

    def erase_some(self, session_id: str) -> bool:
        """Erase one page of a listing: up to 1,000 objects, as many as one deletion takes."""
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=payload_prefix(session_id))
        keys: list[ObjectIdentifierTypeDef] = [{"Key": entry["Key"]} for entry in listed.get("Contents", [])]
        if keys:
            answer = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": keys, "Quiet": True})
            if answer.get("Errors"):
                codes = {error.get("Code", "") for error in answer["Errors"]}
                raise UnavailableError(f"objects were not deleted: {', '.join(sorted(codes))}")
        return listed["IsTruncated"]
