"""The dashboard of a deployment: one for all regions, in the primary region."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from aws_cdk import Duration, Environment, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra import names
from infra.config import Config
from infra.dashboard.business import business
from infra.dashboard.cache import cache
from infra.dashboard.functions import functions
from infra.dashboard.panels import Row, heading
from infra.dashboard.regions import regions
from infra.dashboard.stream import stream
from infra.dashboard.summary import summary
from infra.dashboard.table import table
from infra.dashboard.traffic import traffic
from infra.dashboard.watched import Watched
from infra.regional_stack import RegionalStack

SHOWN: Final = Duration.hours(3)

Group = Callable[[Sequence[Watched]], Iterator[Row]]


def _in_each(rows: Callable[[Watched], Iterator[Row]]) -> Group:
    """The same panels for one region after another."""
    return lambda everywhere: (row for watched in everywhere for row in rows(watched))


GROUPS: Final[tuple[tuple[str, str, Group], ...]] = (
    ("Traffic", "Requests, errors and latency, as callers see them.", _in_each(traffic)),
    ("Sessions", "What the store is used for.", _in_each(business)),
    ("Tables", "DynamoDB: capacity units, throttles, failed conditions.", _in_each(table)),
    (
        "Stream and session clean-up",
        "Audit and clean-up, and what failed in every attempt.",
        _in_each(stream),
    ),
    (
        "Regions",
        "Replication latency from source to destination, and whether each region takes writes.",
        regions,
    ),
    ("Functions", "Lambda: concurrency, errors, throttles, cold starts.", _in_each(functions)),
    ("Cache", "DAX: hits, errors, evictions, load.", _in_each(cache)),
)


class DashboardStack(Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        env: Environment,
        regional: Mapping[str, RegionalStack],
    ) -> None:
        super().__init__(scope, construct_id, env=env, description="Session store: the dashboard")
        everywhere = [Watched.of(stack, config=config, region=region) for region, stack in regional.items()]
        board = cloudwatch.Dashboard(
            self, "Board", dashboard_name=names.dashboard(config.stage), default_interval=SHOWN
        )
        for row in summary(self, everywhere, config=config):
            board.add_widgets(*row)
        for title, about, group in GROUPS:
            rows = list(group(everywhere))
            for row in [heading(title, about), *rows] if rows else []:
                board.add_widgets(*row)
