"""What serves one region: the API and its function, on the tables' copy in that region."""

from aws_cdk import CfnOutput, Environment, Stack
from constructs import Construct

from infra.api_function import ApiFunction
from infra.config import Config
from infra.rest_api import SessionRestApi


class RegionalStack(Stack):
    def __init__(self, scope: Construct, construct_id: str, *, config: Config, env: Environment) -> None:
        super().__init__(scope, construct_id, env=env, description="Session store: the API of one region")
        # The tables are named, not referenced: their replicas here belong to the stack in the primary region.
        handler = ApiFunction(self, "SessionApi", config=config)
        rest = SessionRestApi(self, "Rest", config=config, function=handler.function)
        CfnOutput(self, "ApiUrl", value=rest.api.url)
        CfnOutput(self, "ApiId", value=rest.api.rest_api_id)
        CfnOutput(self, "TableName", value=config.table_name)
