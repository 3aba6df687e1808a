"""The quarantine in S3: stream records in no known form, kept whole."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from session_store.domain.dead_letter import Quarantined
from session_store.domain.json_values import encode
from session_store.schema import QUARANTINE_PREFIX
from session_store.storage.integrations.transient_errors import transient_as_throttled

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MOST_COUNTED: Final = 1000
"""Objects that one listing returns at most (*ListObjectsV2*)."""


class QuarantineBucket(Struct, frozen=True, kw_only=True):
    s3: "S3Client"
    bucket: str

    def keep(self, raw: Mapping[str, Any], *, name: str, reason: str) -> None:
        """The object key follows from the record, so a record delivered again is kept once."""
        body = encode({"reason": reason, "record": raw})
        self.s3.put_object(
            Bucket=self.bucket,
            Key=f"{QUARANTINE_PREFIX}{name}.json",
            Body=body,
            ContentType="application/json",
        )

    def count(self) -> Quarantined:
        with transient_as_throttled("The quarantine"):
            page = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=QUARANTINE_PREFIX, MaxKeys=MOST_COUNTED)
        return Quarantined(records=len(page.get("Contents", ())), more=page.get("IsTruncated", False))
