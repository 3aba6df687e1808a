"""The whole deployment, as app.py and the tests both build it."""

from dataclasses import dataclass

from aws_cdk import App, Environment, Tags

from infra import names
from infra.config import Config
from infra.dashboard.stack import DashboardStack
from infra.data_stack import DataStack
from infra.nag import check
from infra.regional_stack import RegionalStack


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    config: Config
    data: DataStack
    regional: dict[str, RegionalStack]
    """By region."""

    dashboard: DashboardStack


def build(app: App) -> Deployment:
    config = Config.from_context(app.node)

    def env(region: str) -> Environment:
        return Environment(account=config.account, region=region)

    data = DataStack(app, names.data_stack(config.stage), config=config, env=env(config.primary))
    regional = {
        region: RegionalStack(
            app,
            names.regional_stack(config.stage, region),
            config=config,
            env=env(region),
            primary_table=data.table if region == config.primary else None,
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
    check(app, config=config, regional=regional.values())
    return Deployment(config=config, data=data, regional=regional, dashboard=dashboard)
