"""The VPC of the cache and the API's function, and what the function reaches from there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aws_cdk import CfnOutput, Fn, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.config import Config
from infra.config_values import Egress

RANGE: Final = "10.64.0.0/20"
"""Nothing peers with this network, so it may overlap with others."""

_MOST_ZONES: Final = 3
_FEW_ZONES: Final = {"us-west-1": 2}
"""Regions where an account has fewer zones than ``_MOST_ZONES``."""

_CACHE: Final = "Cache"
_FUNCTION: Final = "Function"
_WAY_OUT: Final = "WayOut"

INTERFACES: Final = {
    "Queues": ec2.InterfaceVpcEndpointAwsService.SQS,
    "Functions": ec2.InterfaceVpcEndpointAwsService.LAMBDA_,
    "Traces": ec2.InterfaceVpcEndpointAwsService.XRAY,
}
"""Services that the API's function calls besides DynamoDB and S3. Each is billed hourly per zone."""

GATEWAYS: Final = {
    "Tables": ec2.GatewayVpcEndpointAwsService.DYNAMODB,
    "Buckets": ec2.GatewayVpcEndpointAwsService.S3,
}
"""Free of charge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where in a VPC a function runs, and the settings that it needs there."""

    vpc: ec2.IVpc
    subnets: Sequence[ec2.ISubnet]
    security_group: ec2.ISecurityGroup
    streams_url: str | None
    """The endpoint of DynamoDB Streams, if its public name is unreachable."""


def zones(config: Config, *, region: str) -> list[str]:
    """By position in the region's list, so that no account is needed to look them up."""
    count = min(_FEW_ZONES.get(region, _MOST_ZONES), max(2, config.dax_nodes))
    return [Fn.select(at, Fn.get_azs()) for at in range(count)]


class CacheNetwork(Construct):
    def __init__(self, scope: Construct, construct_id: str, *, config: Config, key: kms.IKey | None) -> None:
        super().__init__(scope, construct_id)
        is_isolated = config.egress is Egress.ISOLATED
        in_use = Stack.of(self).availability_zones
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr(RANGE),
            availability_zones=in_use,
            # Addresses of unused zones are reserved, so that adding nodes moves no subnet.
            reserved_azs=_MOST_ZONES - len(in_use),
            subnet_configuration=_subnets(is_isolated=is_isolated),
            # One per zone, so that a failing zone does not cut off the others.
            nat_gateways=0 if is_isolated else None,
            restrict_default_security_group=True,
            flow_logs={"All": _flow_logs(self, config, key)},
        )
        self.cache_subnets = self.vpc.select_subnets(subnet_group_name=_CACHE).subnets
        of_function = self.vpc.select_subnets(subnet_group_name=_CACHE if is_isolated else _FUNCTION)
        self.function_group = ec2.SecurityGroup(
            self,
            "OfFunction",
            vpc=self.vpc,
            description="Session store: the function of the API",
            allow_all_outbound=False,
        )
        # Gateway endpoints are routes to public addresses; without another route nothing else is reachable.
        self.function_group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "AWS, by TLS")
        for name, gateway in GATEWAYS.items():
            endpoint = self.vpc.add_gateway_endpoint(name, service=gateway)
            endpoint.add_to_policy(_own_account(self, owning=True))
        streams_url = None
        if is_isolated:
            for name, service in INTERFACES.items():
                self._interface(name, service)
            streams_url = self._streams()
        self.placement = Placement(
            vpc=self.vpc,
            subnets=of_function.subnets,
            security_group=self.function_group,
            streams_url=streams_url,
        )

    def _streams(self) -> str:
        """Streams have no gateway endpoint, and their interface endpoint has no private DNS name."""
        service = ec2.InterfaceVpcEndpointAwsService.DYNAMODB_STREAMS
        endpoint = self._interface("Streams", service, private_dns=False)
        # `<hosted zone>:<name>`, the regional one first.
        name = Fn.select(1, Fn.split(":", Fn.select(0, endpoint.vpc_endpoint_dns_entries)))
        stack = Stack.of(self)
        output = CfnOutput(stack, "StreamsUrl", value=f"https://{name}")
        # As a string: a list attribute cannot be referred to from another stack.
        return Fn.get_stack_output(stack.stack_name, output.node.id)

    def _interface(
        self, name: str, service: ec2.IInterfaceVpcEndpointService, *, private_dns: bool = True
    ) -> ec2.InterfaceVpcEndpoint:
        group = ec2.SecurityGroup(
            self,
            f"Of{name}",
            vpc=self.vpc,
            description=f"Session store: endpoint {name}",
            allow_all_outbound=False,
        )
        group.add_ingress_rule(self.function_group, ec2.Port.tcp(443), "the function of the API")
        endpoint = self.vpc.add_interface_endpoint(
            name,
            service=service,
            open=False,
            private_dns_enabled=private_dns,
            security_groups=[group],
            subnets=ec2.SubnetSelection(subnet_group_name=_CACHE),
        )
        endpoint.add_to_policy(_own_account(self, owning=False))
        return endpoint


def _own_account(scope: Construct, *, owning: bool) -> iam.PolicyStatement:
    """Only for the own account's credentials; with ``owning`` also only for its resources."""
    account = Stack.of(scope).account
    keys = ["aws:PrincipalAccount"]
    if owning:
        keys.append("aws:ResourceAccount")
    return iam.PolicyStatement(
        principals=[iam.AnyPrincipal()],
        actions=["*"],
        resources=["*"],
        conditions={"StringEquals": dict.fromkeys(keys, account)},
    )


def _subnets(*, is_isolated: bool) -> list[ec2.SubnetConfiguration]:
    subnet = ec2.SubnetConfiguration
    cache = subnet(name=_CACHE, subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=24)
    if is_isolated:
        return [cache]
    return [
        cache,
        subnet(name=_FUNCTION, subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS, cidr_mask=24),
        subnet(name=_WAY_OUT, subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=28, map_public_ip_on_launch=False),
    ]


def _flow_logs(scope: Construct, config: Config, key: kms.IKey | None) -> ec2.FlowLogOptions:
    log_group = logs.LogGroup(
        scope, "FlowLogs", retention=config.log_retention, removal_policy=config.removal, encryption_key=key
    )
    return ec2.FlowLogOptions(
        destination=ec2.FlowLogDestination.to_cloud_watch_logs(log_group),
        traffic_type=ec2.FlowLogTrafficType.ALL,
    )
