"""The resources of one region that the dashboard shows, by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

from infra.config import Config
from infra.config_values import ExportSchedule
from infra.logged_function import LoggedFunction
from infra.regional_stack import RegionalStack

if TYPE_CHECKING:
    from aws_cdk import aws_cloudwatch as cloudwatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    config: Config
    region: str
    packages: tuple[str, ...]
    """The packages of the functions' handlers."""

    alarms: tuple[str, ...]
    """Their names."""

    @property
    def tables(self) -> Sequence[str]:
        return (self.config.table_name, self.config.audit_table_name)

    @property
    def exports(self) -> bool:
        """Whether the audit table is exported from this region."""
        return self.region == self.config.primary and self.config.audit_export is not ExportSchedule.NONE

    @property
    def changes(self) -> bool:
        """Whether Kinesis receives the changes of this region's replica."""
        return self.region == self.config.primary and self.config.kinesis_stream

    def title(self, text: str) -> str:
        """With the region, if there are several."""
        return f"{text} ({self.region})" if self.config.replicas else text

    @classmethod
    def of(cls, stack: RegionalStack, *, config: Config, region: str) -> Self:
        functions = (child for child in stack.node.children if isinstance(child, LoggedFunction))
        return cls(
            config=config,
            region=region,
            packages=tuple(sorted(function.package for function in functions)),
            alarms=tuple(sorted(map(_name, stack.alarms.raised))),
        )


def _name(alarm: "cloudwatch.Alarm") -> str:
    """The name as given: ``alarm_name`` is a reference, and this is for another stack."""
    return str(cast("cloudwatch.CfnAlarm", alarm.node.default_child).alarm_name)
