"""The bucket of one region for payloads too large for an item."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.buckets import bucket
from infra.logged_function import Shared
from infra.table_function import TableFunction
from session_store.schema import PayloadEnv

PAYLOAD_DAYS: Final = 100
"""More than the 90 days that a session may live, so that no object of a living session expires.

An object is no older than its session, and its age counts from when it was last put.
"""


class PayloadBucket(Construct):
    """The clean-up deletes objects session by session; the lifecycle deletes what that missed."""

    def __init__(self, scope: Construct, construct_id: str, *, shared: Shared) -> None:
        super().__init__(scope, construct_id)
        swept = s3.LifecycleRule(expiration=Duration.days(PAYLOAD_DAYS))
        self.bucket = bucket(self, "Bucket", config=shared.config, key=shared.key, lifecycle=[swept])

    def let_keep(self, function: TableFunction) -> None:
        """Allow a function to put and get payloads."""
        self._tell(function)
        function.allow("s3:GetObject", "s3:PutObject", on=self.bucket.arn_for_objects("*"))
        function.allow_key("kms:Decrypt", "kms:GenerateDataKey", through="s3")

    def let_erase(self, function: TableFunction) -> None:
        self._tell(function)
        function.allow("s3:ListBucket", on=self.bucket.bucket_arn)
        function.allow("s3:DeleteObject", on=self.bucket.arn_for_objects("*"))

    def _tell(self, function: TableFunction) -> None:
        function.function.add_environment(PayloadEnv.PAYLOAD_BUCKET.value, self.bucket.bucket_name)
