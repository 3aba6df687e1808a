"""The dashboard of a synthesized deployment, read: its panels, and the metrics in them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.infra.conftest import Synthesized, as_text

KIND: Final = "AWS::CloudWatch::Dashboard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A metric of a panel."""

    region: str
    namespace: str
    name: str
    dimensions: Mapping[str, str]
    statistic: str


def widgets(synthesized: Synthesized) -> list[Mapping[str, Any]]:
    (board,) = synthesized.properties(KIND)
    body = json.loads(as_text(board["DashboardBody"]))
    found: list[Mapping[str, Any]] = body["widgets"]
    return found


def titles(synthesized: Synthesized) -> set[str]:
    return {widget["properties"].get("title", "") for widget in widgets(synthesized)}


def shown(synthesized: Synthesized) -> Iterator[Shown]:
    for widget in widgets(synthesized):
        for *named, options in widget["properties"].get("metrics", []):
            if named:
                namespace, name, *dimensions = named
                yield Shown(
                    region=widget["properties"]["region"],
                    namespace=namespace,
                    name=name,
                    dimensions=dict(zip(dimensions[::2], dimensions[1::2], strict=True)),
                    statistic=options.get("stat", "Average"),
                )
