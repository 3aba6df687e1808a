"""The cache of one region, in a network of its own that only the API's function joins."""

from typing import Final

from aws_cdk import Annotations, CfnOutput, Environment, Stack
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.cache.cluster import DaxCluster
from infra.cache.network import CacheNetwork, zones
from infra.config import Config

UNUSED: Final = (
    "Nothing reads through the DAX cluster in this version: it costs its nodes' price and serves nothing. "
    "See docs/deployment.md, Cache."
)


class CacheStack(Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, config: Config, env: Environment, key_arn: str | None
    ) -> None:
        self._zones = zones(config, region=str(env.region))
        super().__init__(scope, construct_id, env=env, description="Session store: the cache of one region")
        key = None if key_arn is None else kms.Key.from_key_arn(self, "Key", key_arn)
        network = CacheNetwork(self, "Network", config=config, key=key)
        self.placement = network.placement
        self.cache = DaxCluster(
            self,
            "Dax",
            config=config,
            key=key,
            vpc=network.vpc,
            subnets=network.cache_subnets,
            callers=network.function_group,
        )
        CfnOutput(self, "CacheEndpoint", value=self.cache.endpoint)
        Annotations.of(self).add_warning_v2("session-store:nothing-reads-the-cache", UNUSED)

    @property
    def availability_zones(self) -> list[str]:
        """CDK's own property asks AWS for them if an account is set."""
        return self._zones
