"""The monthly cost of a deployment without any calls, counted in its synthesized templates."""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aws_cdk import App

from bench.prices import HOURS, Meter, Usage
from infra.app_builder import build
from session_store.domain.session import Status
from session_store.metric_names import Metric

ROOT: Final = Path(__file__).resolve().parent.parent
THREE: Final = "us-east-1,eu-west-1,ap-northeast-1"
DEPLOYMENTS: Final[Mapping[str, Mapping[str, object]]] = {
    "dev": {"stage": "dev"},
    "prod": {"stage": "prod"},
    "prod, three regions": {"stage": "prod", "regions": THREE},
    "prod, with a cache and a customer-managed key": {
        "stage": "prod",
        "daxNodes": 3,
        "encryption": "customer_managed",
    },
}
CENSUS_PACKAGE: Final = "session_census"
CENSUSES: Final = (15, 60, 1440)
"""Minutes between two counts."""

ENTRY_BYTES: Final = 193
"""Of a session's entry in the index that the census reads: 26 characters of tenant, 36 of subject."""

UNIT_BYTES: Final = 4096
MINUTES: Final = HOURS * 60
POLLS: Final = 5 * 3 * MINUTES
"""Per month, of an idle queue that triggers a function: five pollers, each with long polls of up to 20 s."""

METHOD_METRICS: Final = 5
"""Per method, with API Gateway's route metrics: count, two latencies, two kinds of errors."""

_RATE: Final = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_MINUTES: Final = {"minute": 1, "hour": 60, "day": 1440}

Resource = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Something billed by the month: its count, and the usage of all of them."""

    name: str
    count: float
    usage: Usage


def resources_of(context: Mapping[str, object]) -> Sequence[Resource]:
    """The resources of all stacks of a deployment, synthesized without bundling."""
    flags = json.loads((ROOT / "cdk.json").read_text())["context"]
    with tempfile.TemporaryDirectory() as folder:
        app = App(context={**flags, "aws:cdk:bundling-stacks": [], **context}, outdir=folder)
        build(app)
        app.synth()
        templates = [json.loads(file.read_text()) for file in sorted(Path(folder).glob("*.template.json"))]
    return [resource for template in templates for resource in template["Resources"].values()]


def fixed_costs(resources: Sequence[Resource], *, a_run: Usage) -> Sequence[Fixed]:
    """What these resources cost per month. ``a_run``: the usage of one scheduled run."""
    found = _Found(resources)
    regions = len(found.of("AWS::ApiGateway::RestApi"))
    counts: Mapping[str, tuple[float, Usage]] = {
        "alarms": _each(Meter.ALARM, sum(map(_metrics, found.of("AWS::CloudWatch::Alarm")))),
        "function metrics, at most": _each(Meter.METRIC, found.own_metrics() * regions),
        "route metrics, at most": _each(Meter.METRIC, METHOD_METRICS * found.measured_methods()),
        "dashboards": _each(Meter.DASHBOARD, len(found.of("AWS::CloudWatch::Dashboard"))),
        "keys": _each(Meter.KEY, len(found.of("AWS::KMS::Key", "AWS::KMS::ReplicaKey"))),
        "web ACLs": _each(Meter.WEB_ACL, len(found.of("AWS::WAFv2::WebACL"))),
        "web ACL rules": _each(Meter.WEB_RULE, found.web_rules()),
        "DAX nodes": _each(Meter.DAX_HOUR, found.dax_nodes(), hours=HOURS),
        "NAT gateways": _each(Meter.NAT_HOUR, len(found.of("AWS::EC2::NatGateway")), hours=HOURS),
        "interface endpoints, per zone": _each(Meter.ENDPOINT_HOUR, found.endpoint_zones(), hours=HOURS),
        "scheduled runs": (found.runs(), a_run * found.runs()),
        "polls of idle queues": _each(Meter.QUEUE, POLLS * found.polled_queues()),
    }
    return [Fixed(name=name, count=count, usage=usage) for name, (count, usage) in counts.items()]


def _each(meter: Meter, count: float, *, hours: float = 1) -> tuple[float, Usage]:
    return count, Usage({meter: count * hours})


def _metrics(alarm: Resource) -> int:
    """An alarm on an expression is billed by its number of metrics."""
    queries = alarm["Properties"].get("Metrics", ())
    return max(1, sum("MetricStat" in query for query in queries))


@dataclass(frozen=True, slots=True)
class _Found:
    resources: Sequence[Resource]

    def of(self, *kinds: str) -> list[Resource]:
        return [resource for resource in self.resources if resource["Type"] in kinds]

    def properties(self, kind: str) -> Iterator[Mapping[str, Any]]:
        for resource in self.of(kind):
            yield resource["Properties"]

    def own_metrics(self) -> int:
        """Per region: those in ``metric_names``, cold starts, and with a census its gauges by status."""
        handlers = {str(function["Handler"]) for function in self.properties("AWS::Lambda::Function")}
        counts = any(handler.startswith(CENSUS_PACKAGE) for handler in handlers)
        living = 1 + len(Status) if counts else 0
        return len(Metric) - 1 + living + sum(handler.endswith(".handler.handler") for handler in handlers)

    def measured_methods(self) -> int:
        """The methods, if the stages of their APIs have metrics per method."""
        measured = [
            any(setting.get("MetricsEnabled") for setting in stage.get("MethodSettings", ()))
            for stage in self.properties("AWS::ApiGateway::Stage")
        ]
        return len(self.of("AWS::ApiGateway::Method")) if any(measured) else 0

    def web_rules(self) -> int:
        return sum(len(acl.get("Rules", ())) for acl in self.properties("AWS::WAFv2::WebACL"))

    def dax_nodes(self) -> int:
        return sum(cluster["ReplicationFactor"] for cluster in self.properties("AWS::DAX::Cluster"))

    def endpoint_zones(self) -> int:
        endpoints = self.properties("AWS::EC2::VPCEndpoint")
        return sum(len(each["SubnetIds"]) for each in endpoints if each.get("VpcEndpointType") == "Interface")

    def polled_queues(self) -> int:
        """Mappings of queues: those of streams have a starting position."""
        mappings = self.properties("AWS::Lambda::EventSourceMapping")
        return sum("StartingPosition" not in mapping for mapping in mappings)

    def runs(self) -> float:
        """Runs of all schedules per month; one without a rate counts as daily."""
        rules = self.properties("AWS::Events::Rule")
        return sum(runs_of(rule["ScheduleExpression"]) for rule in rules if "ScheduleExpression" in rule)


def runs_of(schedule: str) -> float:
    found = _RATE.fullmatch(schedule)
    minutes = int(found[1]) * _MINUTES[found[2]] if found else _MINUTES["day"]
    return MINUTES / minutes


def census(*, minutes: int, living: int) -> Usage:
    """What one region's census reads per month, eventually consistently, of all these sessions."""
    return Usage({Meter.READ: MINUTES / minutes * living * ENTRY_BYTES / UNIT_BYTES / 2})


def sheet(
    synthesize: Callable[[Mapping[str, object]], Sequence[Resource]] = resources_of, *, a_run: Usage
) -> Mapping[str, Sequence[Fixed]]:
    """The fixed costs, by deployment."""
    return {name: fixed_costs(synthesize(context), a_run=a_run) for name, context in DEPLOYMENTS.items()}
