"""AWS clients with timeouts."""

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from session_store.storage.dynamodb.attempts import CONNECT_TIMEOUT, READ_TIMEOUT

if TYPE_CHECKING:
    from botocore.session import Session
    from mypy_boto3_dynamodb.client import DynamoDBClient


POOL: Final = 64
"""Connections that one request may need at once: one for each shard of the status/ttl index."""


def dynamodb_client(*, region: str) -> "DynamoDBClient":
    """A DynamoDB client with timeouts and without retries, which ``Attempts`` makes instead."""
    client: DynamoDBClient = aws_client("dynamodb", region=region, attempts=1)
    return client


def aws_client(service: str, *, region: str, attempts: int = 3, read_timeout: float = READ_TIMEOUT) -> Any:  # noqa: ANN401 - its class is made at run time
    """A client of any service, with timeouts."""
    from botocore.config import Config  # noqa: PLC0415 - a caller that brings its own client need not load it

    config = Config(
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=POOL,
        # Our own code builds the requests, and the service validates them anyway.
        parameter_validation=False,
    )
    return aws_session().create_client(service, region_name=region, config=config)


@cache
def aws_session() -> "Session":
    """The session that all clients share. It is botocore's: boto3 adds resources, which are not used here."""
    from botocore.session import Session  # noqa: PLC0415 - likewise

    from session_store.storage.integrations.service_models import ServiceModels  # noqa: PLC0415 - likewise

    session = Session()
    session.register_component("data_loader", ServiceModels())
    return session
