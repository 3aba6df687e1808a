"""The DAX cluster of one region: permissions, time to live, alarms."""

import hashlib
from collections.abc import Sequence
from typing import Final

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dax as dax
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.alarms import LONG, Alarms
from infra.config import Config

TLS_PORT: Final = 9111
READ_ACTIONS: Final = ("dynamodb:DescribeTable", "dynamodb:GetItem")
"""The cache is only for single items of the session table, read by key."""

KEY_ACTIONS: Final = ("kms:Decrypt", "kms:DescribeKey")
MAINTENANCE: Final = "sun:04:00-sun:05:00"
"""UTC."""

NAME_LENGTH: Final = 20
BUSY_PERCENT: Final = 75


def cluster_name(config: Config) -> str:
    """A name that depends on what cannot be changed in place: another node type makes another cluster.

    At most ``NAME_LENGTH`` characters. It is in the cluster's certificate, and so in public certificate
    logs.
    """
    fixed = hashlib.sha256(f"{config.stage}/{config.dax_node_type}".encode()).hexdigest()[:8]
    return f"ss-{config.stage[: NAME_LENGTH - len('ss--') - len(fixed)]}-{fixed}"


class DaxCluster(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        key: kms.IKey | None,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        callers: ec2.ISecurityGroup,
    ) -> None:
        super().__init__(scope, construct_id)
        security_group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="Session store: the cache", allow_all_outbound=False
        )
        security_group.add_ingress_rule(callers, ec2.Port.tcp(TLS_PORT), "the function of the API")
        callers.add_egress_rule(security_group, ec2.Port.tcp(TLS_PORT), "the cache")
        subnet_group = dax.CfnSubnetGroup(
            self,
            "Subnets",
            description="Session store",
            subnet_ids=[subnet.subnet_id for subnet in subnets],
        )
        role, policy = self._role(config, key)
        self.cluster = dax.CfnCluster(
            self,
            "Cluster",
            cluster_name=cluster_name(config),
            description="Session store: metadata of sessions",
            node_type=config.dax_node_type,
            replication_factor=config.dax_nodes,
            iam_role_arn=role.role_arn,
            parameter_group_name=self._parameters(config).ref,
            subnet_group_name=subnet_group.ref,
            security_group_ids=[security_group.security_group_id],
            cluster_endpoint_encryption_type="TLS",
            sse_specification=dax.CfnCluster.SSESpecificationProperty(sse_enabled=True),
            preferred_maintenance_window=MAINTENANCE,
        )
        self.cluster.node.add_dependency(policy)

    @property
    def endpoint(self) -> str:
        """``daxs://…``"""
        return self.cluster.attr_cluster_discovery_endpoint_url

    def _role(self, config: Config, key: kms.IKey | None) -> tuple[iam.Role, iam.Policy]:
        table = Stack.of(self).format_arn(
            service="dynamodb", resource="table", resource_name=config.table_name
        )
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("dax.amazonaws.com"))
        read = iam.PolicyStatement(actions=list(READ_ACTIONS), resources=[table])
        statements = [read]
        if key is not None:
            through = {"StringEquals": {"kms:ViaService": f"dynamodb.{Stack.of(self).region}.amazonaws.com"}}
            statements.append(
                iam.PolicyStatement(actions=list(KEY_ACTIONS), resources=[key.key_arn], conditions=through)
            )
        return role, iam.Policy(self, "Reads", roles=[role], statements=statements)

    def _parameters(self, config: Config) -> dax.CfnParameterGroup:
        """A group per time to live, since nodes adopt changes of a group only when they start."""
        kept = str(config.dax_record_ttl_seconds * 1000)
        return dax.CfnParameterGroup(
            self,
            f"Kept{kept}",
            description="Session store",
            parameter_name_values={"record-ttl-millis": kept, "query-ttl-millis": kept},
        )


def watch_cluster(alarms: Alarms, *, config: Config) -> None:
    """The cluster is referred to by name, so its alarms are with the others of the region."""

    def metric(name: str, statistic: str) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace="AWS/DAX",
            metric_name=name,
            dimensions_map={"ClusterId": cluster_name(config)},
            statistic=statistic,
            period=LONG,
        )

    alarms.add(
        "dax-busy",
        says="the cache is short of CPU",
        metric=metric("CPUUtilization", "Average"),
        above=BUSY_PERCENT,
        periods=3,
        of=3,
    )
    alarms.add(
        "dax-faults",
        says="the cache fails requests through its own fault",
        metric=metric("FaultRequestCount", "Sum"),
        above=0,
        periods=2,
        of=3,
    )
    alarms.add(
        "dax-evictions",
        says="the cache evicts items for lack of memory",
        metric=metric("EvictedSize", "Maximum"),
        above=0,
        periods=3,
        of=3,
    )
