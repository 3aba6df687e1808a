"""The form of panels; widths are in the 24 columns of CloudWatch's grid."""

from collections.abc import Iterable, Sequence
from typing import Final

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.dashboard.watched import Watched

COLUMNS: Final = 24
HEIGHT: Final = 6
TALL: Final = 9

Row = Sequence[cloudwatch.IWidget]


def graph(
    watched: Watched,
    title: str,
    metrics: Iterable[cloudwatch.IMetric],
    *,
    width: int = 6,
    height: int = HEIGHT,
    unit: str = "",
    limits: Iterable[tuple[float, str]] = (),
) -> cloudwatch.GraphWidget:
    """Lines over time, from zero; ``limits`` are alarm thresholds, each with its label."""
    return cloudwatch.GraphWidget(
        title=watched.title(title),
        region=watched.region,
        left=list(metrics),
        left_y_axis=cloudwatch.YAxisProps(min=0, label=unit or None, show_units=False),
        left_annotations=[
            cloudwatch.HorizontalAnnotation(value=value, label=label, color=cloudwatch.Color.RED)
            for value, label in limits
        ],
        legend_position=cloudwatch.LegendPosition.BOTTOM,
        width=width,
        height=height,
    )


def heading(text: str, about: str) -> Row:
    return [cloudwatch.TextWidget(markdown=f"## {text}\n{about}", width=COLUMNS, height=2)]
