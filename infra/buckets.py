"""How every bucket is configured: private, encrypted, TLS only, deleted with its stack or retained."""

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
    """Deleting a stack does not empty them: CDK's function for that would have too many permissions."""
    # The emulator serves plain HTTP, on loopback only.
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
