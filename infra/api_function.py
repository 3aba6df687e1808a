"""The function behind the API, what it may do and where it logs."""

from typing import Final

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.bundling import dependency_layer, function_sources, platform_for
from infra.config import Config, Target
from session_store.schema import Env

TIMEOUT: Final = Duration.seconds(15)
"""Below API Gateway's 29 s, so that the function's own answer, not the gateway's, tells what happened."""

MEMORY_MIB: Final = 1024
"""CPU grows with memory; a cold start is mostly imports."""

TABLE_ACTIONS: Final = (
    "dynamodb:BatchGetItem",
    "dynamodb:DeleteItem",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)
"""A transaction is authorised by the actions of its items; there is none for TransactWriteItems itself."""


class ApiFunction(Construct):
    def __init__(self, scope: Construct, construct_id: str, *, config: Config) -> None:
        super().__init__(scope, construct_id)
        removal = RemovalPolicy.RETAIN if config.retain else RemovalPolicy.DESTROY
        built_for = platform_for(config.target)
        log_group = logs.LogGroup(self, "Logs", retention=config.log_retention, removal_policy=removal)
        # A role of our own: the one CDK makes carries a managed policy over every log group of the account.
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(role)
        self._grant_tables(role, config=config)
        self.function = lambda_.Function(
            self,
            "Function",
            description="Session store: the HTTP API",
            handler="session_api.handler.handler",
            runtime=built_for.runtime,
            architecture=built_for.architecture,
            code=function_sources(),
            layers=[
                lambda_.LayerVersion(
                    self,
                    "Dependencies",
                    code=dependency_layer(built_for),
                    compatible_runtimes=[built_for.runtime],
                    compatible_architectures=[built_for.architecture],
                    removal_policy=removal,
                )
            ],
            role=role,
            memory_size=MEMORY_MIB,
            timeout=TIMEOUT,
            tracing=lambda_.Tracing.ACTIVE,
            logging_format=lambda_.LoggingFormat.JSON,
            log_group=log_group,
            environment=environment(config),
        )

    def _grant_tables(self, role: iam.Role, *, config: Config) -> None:
        table, audit_table = (
            Stack.of(self).format_arn(service="dynamodb", resource="table", resource_name=name)
            for name in (config.table_name, config.audit_table_name)
        )
        role.add_to_policy(iam.PolicyStatement(actions=list(TABLE_ACTIONS), resources=[table]))
        role.add_to_policy(iam.PolicyStatement(actions=["dynamodb:Query"], resources=[f"{table}/index/*"]))
        role.add_to_policy(iam.PolicyStatement(actions=["dynamodb:PutItem"], resources=[audit_table]))


def environment(config: Config) -> dict[str, str]:
    variables = {
        Env.TABLE_NAME.value: config.table_name,
        Env.AUDIT_TABLE_NAME.value: config.audit_table_name,
        Env.REGIONS.value: ",".join(config.regions),
        Env.DELEGATES.value: ",".join(config.delegates),
        Env.STATUS_SHARDS.value: str(config.status_shards),
        Env.AUDIT_RETENTION_DAYS.value: str(config.audit_retention_days),
        "POWERTOOLS_SERVICE_NAME": "session-api",
        "POWERTOOLS_METRICS_NAMESPACE": "SessionStore",
        "POWERTOOLS_LOG_LEVEL": "INFO",
    }
    if config.target is Target.LOCAL:
        variables[Env.GATEWAY_DECODES_PATH.value] = "true"
        # There is no X-Ray daemon to send to.
        variables["POWERTOOLS_TRACE_DISABLED"] = "true"
    return variables
