"""What every function has: a role, a log group, dependencies, and an alarm on throttles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypedDict

from aws_cdk import Duration, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import names
from infra.alarms import Alarms
from infra.bundling import LOCK, dependency_layer, function_sources, platform_for
from infra.cache.network import Placement
from infra.config import Config
from session_store.metric_names import namespace_of, service_of

MEMORY_MIB: Final = 1024
"""CPU scales with memory, and a cold start is mostly imports."""

INTERFACE_ACTIONS: Final = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)
"""What Lambda needs from the role of a function in a VPC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What the constructs of one region's stack share."""

    config: Config
    dependencies: lambda_.ILayerVersion
    """The layer that every function uses."""
    alarms: Alarms
    key: kms.IKey | None
    """The customer-managed key that encrypts data at rest here, if any."""


def dependencies_layer(
    scope: Construct, construct_id: str, *, config: Config, lock: Path = LOCK
) -> lambda_.LayerVersion:
    built_for = platform_for(config.target)
    return lambda_.LayerVersion(
        scope,
        construct_id,
        code=dependency_layer(built_for, lock),
        compatible_runtimes=[built_for.runtime],
        compatible_architectures=[built_for.architecture],
        removal_policy=config.removal,
    )


class LoggedFunction(Construct):
    """Runs the handler of ``package``, a folder of ``lambdas/``. It may only log until allowed more."""

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
        layers: Sequence[lambda_.ILayerVersion] = (),
        placement: Placement | None = None,
    ) -> None:
        """``layers``: dependencies of this function only, in addition to the shared ones."""
        super().__init__(scope, construct_id)
        config = shared.config
        self.package = package
        self.alarms = shared.alarms
        self._key = shared.key
        built_for = platform_for(config.target)
        log_group = logs.LogGroup(
            self,
            "Logs",
            retention=config.log_retention,
            removal_policy=config.removal,
            encryption_key=shared.key,
        )
        # CDK's own role would have a managed policy on every log group of the account.
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(self.role)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=names.function(config.stage, package),
            description=f"Session store: {description}",
            handler=f"{package}.handler.handler",
            runtime=built_for.runtime,
            architecture=built_for.architecture,
            code=function_sources(built_for),
            layers=[shared.dependencies, *layers],
            role=self.role,
            memory_size=MEMORY_MIB,
            timeout=timeout,
            tracing=lambda_.Tracing.ACTIVE,
            logging_format=lambda_.LoggingFormat.JSON,
            log_group=log_group,
            environment={**_environment(config, package), **environment},
            **_placed(placement),
        )
        if placement is not None:
            self._let_lambda_connect()
        self.alarms.on_throttles(self.function, service_of(package))

    def allow(self, *actions: str, on: str, where: Mapping[str, Mapping[str, object]] | None = None) -> None:
        """Allow the function these actions on one resource, under the conditions of ``where``."""
        self.role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=[on], conditions=where))

    def allow_key(self, *actions: str, through: str) -> None:
        """Allow a service to use the customer-managed key, if any, on behalf of the function."""
        if self._key is None:
            return
        service = f"{through}.{Stack.of(self).region}.amazonaws.com"
        self.allow(*actions, on=self._key.key_arn, where={"StringEquals": {"kms:ViaService": service}})

    def _let_lambda_connect(self) -> None:
        """Lambda creates network interfaces with the function's role; the function's code may not."""
        for effect, conditions in (
            (iam.Effect.ALLOW, None),
            # Present only in requests that a function's code makes.
            (iam.Effect.DENY, {"Null": {"lambda:SourceFunctionArn": "false"}}),
        ):
            self.role.add_to_policy(
                iam.PolicyStatement(
                    effect=effect, actions=list(INTERFACE_ACTIONS), resources=["*"], conditions=conditions
                )
            )


class _Placed(TypedDict, total=False):
    vpc: ec2.IVpc
    vpc_subnets: ec2.SubnetSelection
    security_groups: list[ec2.ISecurityGroup]


def _placed(placement: Placement | None) -> _Placed:
    if placement is None:
        return {}
    return {
        "vpc": placement.vpc,
        "vpc_subnets": ec2.SubnetSelection(subnets=list(placement.subnets)),
        "security_groups": [placement.security_group],
    }


def _environment(config: Config, package: str) -> dict[str, str]:
    return {
        "POWERTOOLS_SERVICE_NAME": service_of(package),
        "POWERTOOLS_METRICS_NAMESPACE": namespace_of(config.stage),
        "POWERTOOLS_LOG_LEVEL": "INFO",
    }
