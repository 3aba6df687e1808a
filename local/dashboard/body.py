"""Reads the dashboard's panels from its template."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from local.streams.templates import Stack

KIND: Final = "AWS::CloudWatch::Dashboard"
STATISTIC: Final = "Average"
PERIOD: Final = 300
"""CloudWatch's defaults, which CDK omits."""


class BodyError(ValueError):
    """The deployed templates have no dashboard, or one with an unsupported form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelMetric:
    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]
    statistic: str
    period: int
    """In seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a graph. ``of`` is a metric, or an expression over other lines by their ids."""

    label: str
    of: PanelMetric | str
    id: str = ""
    is_visible: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    value: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A widget, at its position in columns and rows of the grid: with lines, alarms or a text."""

    x: int
    y: int
    width: int
    height: int
    title: str = ""
    unit: str = ""
    lines: tuple[Line, ...] = ()
    limits: tuple[Limit, ...] = ()
    alarms: tuple[str, ...] = ()
    """Their names."""
    markdown: str = ""


def panels(stacks: Sequence[Stack], *, account: str) -> tuple[Panel, ...]:
    """Return the panels of the one dashboard in ``stacks``.

    Raises:
        BodyError
    """
    bodies = [
        resource["Properties"]["DashboardBody"]
        for stack in stacks
        for resource in stack.resources.values()
        if resource["Type"] == KIND
    ]
    if len(bodies) != 1:
        raise BodyError(f"the deployed stacks have {len(bodies)} dashboards, expected one")
    widgets = json.loads(_text(bodies[0], account=account))["widgets"]
    return tuple(_panel(widget) for widget in widgets)


def _text(value: object, *, account: str) -> str:
    match value:
        case str():
            return value
        case {"Ref": "AWS::AccountId"}:
            return account
        case {"Ref": "AWS::Partition"}:
            return "aws"
        case {"Fn::Join": [str() as separator, list() as parts]}:
            return separator.join(_text(part, account=account) for part in parts)
        case _:
            raise BodyError(f"unsupported reference: {value!r}")


def _panel(widget: Mapping[str, Any]) -> Panel:
    properties = widget["properties"]
    left = properties.get("yAxis", {}).get("left", {})
    return Panel(
        **{name: int(widget[name]) for name in ("x", "y", "width", "height")},
        title=properties.get("title", ""),
        unit=left.get("label", ""),
        lines=tuple(_line(metric) for metric in properties.get("metrics", [])),
        limits=tuple(_limits(properties.get("annotations", {}))),
        alarms=tuple(arn.rpartition(":alarm:")[2] for arn in properties.get("alarms", [])),
        markdown=properties.get("markdown", ""),
    )


def _line(row: Sequence[Any]) -> Line:
    """Read a row of ``metrics``: names, dimensions and options, or only options with an expression."""
    *names, options = row
    common = {
        "label": options.get("label", ""),
        "id": options.get("id", ""),
        "is_visible": options.get("visible", True),
    }
    if "expression" in options:
        return Line(of=options["expression"], **common)
    namespace, name, *dimensions = names
    metric = PanelMetric(
        namespace=namespace,
        name=name,
        dimensions=frozenset(zip(dimensions[::2], dimensions[1::2], strict=True)),
        statistic=options.get("stat", STATISTIC),
        period=int(options.get("period", PERIOD)),
    )
    return Line(of=metric, **common)


def _limits(annotations: Mapping[str, Any]) -> Iterator[Limit]:
    for each in annotations.get("horizontal", []):
        yield Limit(value=float(each["value"]), label=each.get("label", ""))
