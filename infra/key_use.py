"""KMS actions that a service needs to encrypt and decrypt data on behalf of a role."""

from typing import Final

BOTH_WAYS: Final = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
"""As CDK grants them for DynamoDB and CloudWatch Logs, with its wildcards spelled out."""
