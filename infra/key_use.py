"""What a service does with a key for one who writes and reads what is under it."""

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
"""Of a table by DynamoDB, of a log group by CloudWatch Logs: as CDK grants it, wildcards spelled."""
