"""The whole deployment, as app.py and the tests both build it."""

from collections.abc import Callable
from dataclasses import dataclass

from aws_cdk import App, Environment, Tags

from infra import names
from infra.config import Config
from infra.config_values import Encryption
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

    keys: dict[str, KeyStack]
    """By region; none where the key is not of our own."""


def build(app: App) -> Deployment:
    config = Config.from_context(app.node)

    def env(region: str) -> Environment:
        return Environment(account=config.account, region=region)

    keys = _keys(app, config, env)
    arns = {region: stack.key_arn for region, stack in keys.items()}
    data = DataStack(
        app, names.data_stack(config.stage), config=config, env=env(config.primary), key_arns=arns
    )
    regional = {
        region: RegionalStack(
            app,
            names.regional_stack(config.stage, region),
            config=config,
            env=env(region),
            primary_table=data.table,
            key_arn=arns.get(region),
        )
        for region in config.regions
    }
    for stack in regional.values():
        stack.add_stack_dependency(data)
    Tags.of(app).add("application", "session-store")
    Tags.of(app).add("stage", config.stage)
    check(app, config=config, regional=regional.values())
    return Deployment(config=config, data=data, regional=regional, keys=keys)


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
