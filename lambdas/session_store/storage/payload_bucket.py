"""What is too large for the table, in S3."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from session_store.errors import UnavailableError
from session_store.schema import payload_prefix

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadBucket:
    s3: "S3Client"
    bucket: str

    def erase_some(self, session_id: str) -> bool:
        """A listing's page, up to 1,000 objects, which is as many as one deletion takes."""
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=payload_prefix(session_id))
        keys: list[ObjectIdentifierTypeDef] = [{"Key": entry["Key"]} for entry in listed.get("Contents", [])]
        if keys:
            answer = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": keys, "Quiet": True})
            if answer.get("Errors"):
                codes = {error.get("Code", "") for error in answer["Errors"]}
                raise UnavailableError(f"objects were not deleted: {', '.join(sorted(codes))}")
        return listed["IsTruncated"]
