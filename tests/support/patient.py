"""The product's clients, but for their patience: a busy machine is no fault that a test is about."""

from typing import TYPE_CHECKING, Any, Final

from session_store.storage.integrations.aws_clients import aws_client
from tests.support.samples import REGION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient
    from mypy_boto3_s3.client import S3Client

READ_SECONDS: Final = 120


def patient_dynamodb() -> "DynamoDBClient":
    """As ``dynamodb_client`` makes it: it resends nothing."""
    client: DynamoDBClient = _patient("dynamodb")
    return client


def patient_s3() -> "S3Client":
    client: S3Client = _patient("s3")
    return client


def _patient(service: str) -> Any:
    return aws_client(service, region=REGION, attempts=1, read_timeout=READ_SECONDS)
