"""Records of the stream that nobody understood, whole, in S3."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from session_store.domain.json_values import encode

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

PREFIX: Final = "quarantine/"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineBucket:
    s3: "S3Client"
    bucket: str

    def keep(self, raw: Mapping[str, Any], *, name: str, reason: str) -> None:
        """The key is the record's own, so a record delivered again is kept once."""
        body = encode({"reason": reason, "record": raw})
        self.s3.put_object(
            Bucket=self.bucket, Key=f"{PREFIX}{name}.json", Body=body, ContentType="application/json"
        )
