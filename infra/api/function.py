"""The function behind the API, and what it may do."""

from typing import Final

from aws_cdk import Duration
from constructs import Construct

from infra.cache.network import Placement
from infra.config import Config
from infra.logged_function import Shared
from infra.table_function import TableFunction
from session_store.schema import Env

TIMEOUT: Final = Duration.seconds(15)
"""Below API Gateway's 29 s, so that callers get the function's own answer rather than the gateway's."""

STREAMS_URL: Final = "AWS_ENDPOINT_URL_DYNAMODB_STREAMS"
"""Read by botocore: the endpoint of DynamoDB Streams."""

TABLE_ACTIONS: Final = (
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)
"""A transaction is authorized by the actions of its items; TransactWriteItems is no action itself."""


class ApiFunction(TableFunction):
    def __init__(
        self, scope: Construct, construct_id: str, *, shared: Shared, placement: Placement | None
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            shared=shared,
            package="session_api",
            description="the HTTP API",
            timeout=TIMEOUT,
            environment=_environment(shared.config, placement),
            placement=placement,
        )
        self.allow(*TABLE_ACTIONS, on=self.table_arn)
        self.allow("dynamodb:Query", on=self.indexes_arn)
        self.allow("dynamodb:PutItem", "dynamodb:Query", on=self.audit_table_arn)
        # To read dead letters and to queue clean-ups again.
        self.allow_key("kms:Decrypt", "kms:GenerateDataKey", through="sqs")


def _environment(config: Config, placement: Placement | None) -> dict[str, str]:
    variables = {
        Env.CALLERS.value: config.auth.value,
        Env.DELEGATES.value: ",".join(config.delegates),
    }
    if config.is_local:
        variables[Env.GATEWAY_DECODES_PATH.value] = "true"
    if placement is not None and placement.streams_url is not None:
        variables[STREAMS_URL] = placement.streams_url
    return variables
