"""Buckets as all of ours are: closed, encrypted, reached by TLS alone, gone with their stack or kept."""

from collections.abc import Sequence

from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.config import Config


def bucket(
    scope: Construct,
    construct_id: str,
    *,
    config: Config,
    key: kms.IKey | None,
    lifecycle: Sequence[s3.LifecycleRule],
    versioned: bool = False,
) -> s3.Bucket:
    """A stack that goes does not empty them: the function that would has more rights than any of ours."""
    # The emulator speaks plain HTTP, on loopback alone.
    by_tls = not config.is_local
    return s3.Bucket(
        scope,
        construct_id,
        encryption=s3.BucketEncryption.S3_MANAGED if key is None else s3.BucketEncryption.KMS,
        encryption_key=key,
        bucket_key_enabled=None if key is None else True,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        enforce_ssl=by_tls,
        minimum_tls_version=1.2 if by_tls else None,
        versioned=versioned,
        lifecycle_rules=lifecycle,
        removal_policy=config.removal,
    )
