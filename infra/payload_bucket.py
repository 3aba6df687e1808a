"""Buckets of one region: one way to make them, and the one for payloads that are too large for an item."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.table_function import Shared, TableFunction
from session_store.schema import PayloadEnv

PAYLOAD_DAYS: Final = 100
"""More than the 90 days that a session may live: of a living one no object is swept.

An object is no older than its session, and its age counts from the last time that it was put.
"""


def regional_bucket(scope: Construct, construct_id: str, *, shared: Shared, days: int) -> s3.Bucket:
    """Encrypted, for nobody from outside, by TLS alone; an object lives for so many days."""
    config, key = shared.config, shared.key
    return s3.Bucket(
        scope,
        construct_id,
        encryption=s3.BucketEncryption.S3_MANAGED if key is None else s3.BucketEncryption.KMS,
        encryption_key=key,
        bucket_key_enabled=None if key is None else True,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        enforce_ssl=not config.is_local,
        lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(days))],
        removal_policy=config.removal,
    )


class PayloadBucket(Construct):
    """The clean-up empties it session by session; the lifecycle takes what that missed."""

    def __init__(self, scope: Construct, construct_id: str, *, shared: Shared) -> None:
        super().__init__(scope, construct_id)
        self.bucket = regional_bucket(self, "Bucket", shared=shared, days=PAYLOAD_DAYS)

    def let_keep(self, function: TableFunction) -> None:
        """Let a function put payloads here and get them."""
        self._tell(function)
        function.allow("s3:GetObject", "s3:PutObject", on=self.bucket.arn_for_objects("*"))
        function.allow_key("kms:Decrypt", "kms:GenerateDataKey", through="s3")

    def let_erase(self, function: TableFunction) -> None:
        self._tell(function)
        function.allow("s3:ListBucket", on=self.bucket.bucket_arn)
        function.allow("s3:DeleteObject", on=self.bucket.arn_for_objects("*"))

    def _tell(self, function: TableFunction) -> None:
        function.function.add_environment(PayloadEnv.PAYLOAD_BUCKET.value, self.bucket.bucket_name)
