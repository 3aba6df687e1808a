"""What every function on the tables shares: its role, its logs, its dependencies and what it is told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import names
from infra.alarms import Alarms
from infra.bundling import dependency_layer, function_sources, platform_for
from infra.config import Config
from session_store.metric_names import NAMESPACE, service_of
from session_store.schema import Env

MEMORY_MIB: Final = 1024
"""CPU grows with memory; a cold start is mostly imports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What the constructs of one region's stack have in common."""

    config: Config
    dependencies: lambda_.ILayerVersion
    """The layer that every function stands on."""
    alarms: Alarms
    key: kms.IKey | None
    """What encrypts data at rest here, where it is a key of our own."""


def dependencies_layer(scope: Construct, construct_id: str, *, config: Config) -> lambda_.LayerVersion:
    built_for = platform_for(config.target)
    return lambda_.LayerVersion(
        scope,
        construct_id,
        code=dependency_layer(built_for),
        compatible_runtimes=[built_for.runtime],
        compatible_architectures=[built_for.architecture],
        removal_policy=config.removal,
    )


class TableFunction(Construct):
    """Runs the handler of ``package``, a folder of ``lambdas/``. It may do nothing but log until allowed."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        shared: Shared,
        package: str,
        description: str,
        timeout: Duration,
        environment: Mapping[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        config = shared.config
        self.alarms = shared.alarms
        self.package = package
        built_for = platform_for(config.target)
        log_group = logs.LogGroup(self, "Logs", retention=config.log_retention, removal_policy=config.removal)
        # A role of our own: the one CDK makes carries a managed policy over every log group of the account.
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(self.role)
        self.table_arn, self.audit_table_arn = (
            Stack.of(self).format_arn(service="dynamodb", resource="table", resource_name=name)
            for name in (config.table_name, config.audit_table_name)
        )
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=names.function(config.stage, package),
            description=f"Session store: {description}",
            handler=f"{package}.handler.handler",
            runtime=built_for.runtime,
            architecture=built_for.architecture,
            code=function_sources(),
            layers=[shared.dependencies],
            role=self.role,
            memory_size=MEMORY_MIB,
            timeout=timeout,
            tracing=lambda_.Tracing.ACTIVE,
            logging_format=lambda_.LoggingFormat.JSON,
            log_group=log_group,
            environment={**_environment(config, package), **environment},
        )

    def allow(self, *actions: str, on: str) -> None:
        """Let the function do these actions on one resource."""
        self.role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=[on]))

    @property
    def indexes_arn(self) -> str:
        return f"{self.table_arn}/index/*"


def _environment(config: Config, package: str) -> dict[str, str]:
    variables = {
        Env.TABLE_NAME.value: config.table_name,
        Env.AUDIT_TABLE_NAME.value: config.audit_table_name,
        Env.REGIONS.value: ",".join(config.regions),
        Env.STATUS_SHARDS.value: str(config.status_shards),
        Env.AUDIT_RETENTION_DAYS.value: str(config.audit_retention_days),
        "POWERTOOLS_SERVICE_NAME": service_of(package),
        "POWERTOOLS_METRICS_NAMESPACE": NAMESPACE,
        "POWERTOOLS_LOG_LEVEL": "INFO",
    }
    if config.is_local:
        # There is no X-Ray daemon to send to.
        variables["POWERTOOLS_TRACE_DISABLED"] = "true"
    return variables
