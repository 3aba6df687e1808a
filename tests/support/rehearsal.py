"""A deployment by the CDK CLI on an emulator of its own: deployed, updated, destroyed; seen at each step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from local.credentials import REGION, TENANTS
from local.deployment import STAGE, Cdk, Deployed, DeploymentError, admit_plain_http, outputs, synthesize
from local.emulator import ACCOUNT, Emulator
from local.principals import DELEGATES, provision
from local.signed_http import Api
from local.streams.templates import read_stacks
from tests.support.calls import Calls

Ids = Callable[[Emulator], list[str]]

LISTED: Final[Mapping[str, Ids]] = {
    "AWS::ApiGateway::RestApi": lambda e: _listed(e, "apigateway", "get_rest_apis", "items", "id"),
    "AWS::CloudWatch::Alarm": lambda e: _listed(
        e, "cloudwatch", "describe_alarms", "MetricAlarms", "AlarmName"
    ),
    "AWS::CloudWatch::Dashboard": lambda e: _listed(
        e, "cloudwatch", "list_dashboards", "DashboardEntries", "DashboardName"
    ),
    "AWS::DynamoDB::GlobalTable": lambda e: e.client("dynamodb").list_tables()["TableNames"],
    "AWS::Events::EventBus": lambda e: _listed(e, "events", "list_event_buses", "EventBuses", "Name"),
    "AWS::Events::Rule": lambda e: _listed(e, "events", "list_rules", "Rules", "Name"),
    "AWS::IAM::Role": lambda e: _listed(e, "iam", "list_roles", "Roles", "RoleName"),
    "AWS::Lambda::EventSourceMapping": lambda e: _listed(
        e, "lambda", "list_event_source_mappings", "EventSourceMappings", "UUID"
    ),
    "AWS::Lambda::Function": lambda e: _listed(e, "lambda", "list_functions", "Functions", "FunctionName"),
    "AWS::Lambda::LayerVersion": lambda e: [
        layer["LatestMatchingVersion"]["LayerVersionArn"]
        for layer in e.client("lambda").list_layers()["Layers"]
    ],
    "AWS::Logs::LogGroup": lambda e: _listed(e, "logs", "describe_log_groups", "logGroups", "logGroupName"),
    "AWS::S3::Bucket": lambda e: _listed(e, "s3", "list_buckets", "Buckets", "Name"),
    "AWS::SNS::Topic": lambda e: _listed(e, "sns", "list_topics", "Topics", "TopicArn"),
    "AWS::SQS::Queue": lambda e: e.client("sqs").list_queues().get("QueueUrls", []),
}
"""What the emulator can list, as CloudFormation names it."""


def _listed(emulator: Emulator, service: str, operation: str, items: str, name: str) -> list[str]:
    return [item[name] for item in getattr(emulator.client(service), operation)()[items]]


def inventory(emulator: Emulator) -> Mapping[str, set[str]]:
    """Whatever there is, by type, whoever made it."""
    return {kind: set(ids(emulator)) for kind, ids in LISTED.items()}


def new_in(now: Mapping[str, set[str]], *, before: Mapping[str, set[str]]) -> dict[str, set[str]]:
    return {kind: ids - before[kind] for kind, ids in now.items() if ids - before[kind]}


@dataclass(frozen=True, kw_only=True)
class Resource:
    stack: str
    kind: str
    physical_id: str
    template: Mapping[str, Any]
    """What the template says of it."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The deployment as it stands after a step."""

    outputs: Deployed
    resources: tuple[Resource, ...]
    statuses: Mapping[str, str]
    """Of the stacks."""

    inventory: Mapping[str, set[str]]

    def of(self, kind: str) -> list[Resource]:
        return [resource for resource in self.resources if resource.kind == kind]

    @property
    def retained(self) -> dict[str, set[str]]:
        """What the templates say outlives its stack, of what the emulator can list."""
        kept: dict[str, set[str]] = {}
        for resource in self.resources:
            if resource.template.get("DeletionPolicy", "").startswith("Retain") and resource.kind in LISTED:
                kept.setdefault(resource.kind, set()).add(resource.physical_id)
        return kept


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    emulator: Emulator
    folder: Path
    cdk: Cdk

    def synthesized(self, name: str, **context: str) -> Path:
        assembly = self.folder / name
        synthesize(self.cdk, assembly, stage=STAGE, delegates=DELEGATES[0], **context)
        return assembly

    def bootstrap(self, assembly: Path) -> None:
        self.cdk.run("bootstrap", f"aws://{ACCOUNT}/{REGION}", "--app", str(assembly))
        admit_plain_http(self.emulator)

    def deploy(self, assembly: Path) -> Seen:
        self.cdk.run("deploy", "--all", "--require-approval", "never", "--app", str(assembly))
        return self.seen(assembly)

    def difference(self, assembly: Path) -> str:
        """Between the assembly and what is deployed; empty where the CLI finds none."""
        try:
            self.cdk.run("diff", "--fail", "--app", str(assembly))
        except DeploymentError as error:
            return str(error)
        return ""

    def destroy(self, assembly: Path) -> None:
        self.cdk.run("destroy", "--all", "--force", "--app", str(assembly))

    def stacks(self) -> Mapping[str, str]:
        """The status of each, but of what bootstrapping made."""
        described = self.emulator.client("cloudformation").describe_stacks()["Stacks"]
        return {
            stack["StackName"]: stack["StackStatus"]
            for stack in described
            if stack["StackName"] != "CDKToolkit"
        }

    def seen(self, assembly: Path) -> Seen:
        cloudformation = self.emulator.client("cloudformation")
        resources = [
            Resource(
                stack=stack.name,
                kind=described["ResourceType"],
                physical_id=described["PhysicalResourceId"],
                template=stack.resources[described["LogicalResourceId"]],
            )
            for stack in read_stacks(assembly)
            for described in cloudformation.describe_stack_resources(StackName=stack.name)["StackResources"]
        ]
        return Seen(
            outputs=outputs(self.emulator),
            resources=tuple(resources),
            statuses=self.stacks(),
            inventory=inventory(self.emulator),
        )

    def caller(self, deployed: Deployed) -> Calls:
        """Signed in as one who may call this API."""
        file = self.folder / f"credentials-{deployed.api_id}"
        keys = provision(self.emulator, deployed=deployed, file=file)
        return Api(deployed.api_url, keys[TENANTS[0]])
