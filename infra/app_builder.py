"""The whole deployment, as app.py and the tests both build it."""

from collections.abc import Callable
from dataclasses import dataclass

from aws_cdk import App, Environment, Stack, Tags

from infra import names
from infra.cache.stack import CacheStack
from infra.config import Config
from infra.config_values import Encryption
from infra.dashboard.stack import DashboardStack
from infra.data_stack import DataStack
from infra.key_stack import KeyStack
from infra.nag import check
from infra.regional_stack import RegionalStack


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    config: Config
    data: DataStack
    regional: dict[str, RegionalStack]
    """By region."""
    caches: dict[str, CacheStack]
    """By region; empty without DAX nodes."""
    keys: dict[str, KeyStack]
    """By region; empty unless the key is customer-managed."""
    dashboard: DashboardStack

    @property
    def stacks(self) -> list[Stack]:
        return [
            *self.keys.values(),
            self.data,
            *self.caches.values(),
            *self.regional.values(),
            self.dashboard,
        ]


def build(app: App) -> Deployment:
    config = Config.from_context(app.node)

    def env(region: str) -> Environment:
        return Environment(account=config.account, region=region)

    keys = _keys(app, config, env)
    arns = {region: stack.key_arn for region, stack in keys.items()}
    data = DataStack(
        app, names.data_stack(config.stage), config=config, env=env(config.primary), key_arns=arns
    )
    caches = {
        region: CacheStack(
            app,
            names.cache_stack(config.stage, region),
            config=config,
            env=env(region),
            key_arn=arns.get(region),
        )
        for region in config.regions
        if config.dax_nodes
    }
    regional = {
        region: RegionalStack(
            app,
            names.regional_stack(config.stage, region),
            config=config,
            env=env(region),
            primary_table=data.table,
            key_arn=arns.get(region),
            placement=caches[region].placement if region in caches else None,
            audit_export=data.audit_export if region == config.primary else None,
        )
        for region in config.regions
    }
    for stack in regional.values():
        stack.add_stack_dependency(data)
    dashboard = DashboardStack(
        app,
        names.dashboard_stack(config.stage),
        config=config,
        env=env(config.primary),
        regional=regional,
    )
    Tags.of(app).add("application", "session-store")
    Tags.of(app).add("stage", config.stage)
    deployment = Deployment(
        config=config, keys=keys, data=data, caches=caches, regional=regional, dashboard=dashboard
    )
    check(app, config=config, stacks=deployment.stacks)
    return deployment


def _keys(app: App, config: Config, env: Callable[[str], Environment]) -> dict[str, KeyStack]:
    """The primary region's first: the others are replicas of it."""
    keys: dict[str, KeyStack] = {}
    if config.encryption is Encryption.CUSTOMER_MANAGED:
        for region in config.regions:
            name = names.key_stack(config.stage, region)
            keys[region] = KeyStack(
                app, name, config=config, env=env(region), primary=keys.get(config.primary)
            )
    return keys
