"""Synthesized templates, one synthesis a configuration a test run."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from aws_cdk import App
from aws_cdk.custom_resources import AwsCustomResource

from infra.app_builder import Deployment, build

ROOT = Path(__file__).resolve().parent.parent.parent
FLAGS: Mapping[str, object] = json.loads((ROOT / "cdk.json").read_text())["context"]
HASH = re.compile(r"[0-9A-F]{8}")
"""What CDK puts at the end of a logical id."""

Source = Literal["stream", "queue"]
REGIONS = ("us-east-1", "eu-west-1", "ap-northeast-1")
CENSUS: Mapping[str, object] = {"censusMinutes": 60}
"""As production has it: what dev stacks leave out."""

OPTIONS: Mapping[str, object] = {
    **CENSUS,
    "webAcl": True,
    "callerAccounts": "222233334444,555566667777",
    "daxNodes": 3,
    "kinesisStream": True,
    "auditExport": "weekly",
}
TOKENS: Mapping[str, object] = {
    **CENSUS,
    "auth": "jwt",
    "jwtIssuer": "https://issuer.example/",
    "jwtAudience": "session-store,another",
    "jwtAlgorithms": "RS256,EdDSA",
}

SEALED_OPTIONS: Mapping[str, object] = {**OPTIONS, "encryption": "customer_managed", "alarmTopic": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesized:
    """What one configuration synthesizes to."""

    deployment: Deployment
    folder: Path

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.template.json"))

    @property
    def regions(self) -> tuple[str, ...]:
        return self.deployment.config.regions

    def resources(self, kind: str, *, region: str = "") -> Mapping[str, Mapping[str, Any]]:
        """The resources of a type by stack and logical id: a region's, or those of every stack."""
        return self.of_stack(f"Regional-{region}" if region else "", kind)

    def of_stack(self, name: str, kind: str) -> Mapping[str, Mapping[str, Any]]:
        """The resources of a type in the stacks whose names end so, by stack and logical id."""
        end = f"{name}.template.json"
        return {
            f"{file.name.removesuffix('.template.json')}/{logical_id}": resource
            for file in self.files
            if file.name.endswith(end)
            for logical_id, resource in json.loads(file.read_text())["Resources"].items()
            if resource["Type"] == kind
        }

    def properties(self, kind: str, *, region: str = "") -> list[Mapping[str, Any]]:
        return [resource["Properties"] for resource in self.resources(kind, region=region).values()]

    def functions(self, *, region: str = "") -> list[Mapping[str, Any]]:
        """The properties of every function but the one that CDK brings for looking a stream up."""
        return [
            function["Properties"]
            for name, function in self.resources("AWS::Lambda::Function", region=region).items()
            if not is_cdks_own(name)
        ]

    def function(self, package: str, *, region: str = "us-east-1") -> Mapping[str, Any]:
        """The properties of the function whose handler is in a package."""
        (function,) = (
            found
            for found in self.functions(region=region)
            if found["Handler"] == f"{package}.handler.handler"
        )
        return function

    def mappings(self, source: Source, *, region: str = "us-east-1") -> list[Mapping[str, Any]]:
        """The event source mappings of streams or of queues; only a stream has a position to start from."""
        return [
            mapping
            for mapping in self.properties("AWS::Lambda::EventSourceMapping", region=region)
            if ("StartingPosition" in mapping) == (source == "stream")
        ]

    def statements(self, function: Mapping[str, Any], *, region: str) -> list[Mapping[str, Any]]:
        """What the policies of a function's role say."""
        ((role, _),) = [function["Role"]["Fn::GetAtt"]]
        return [
            statement
            for policy in self.properties("AWS::IAM::Policy", region=region)
            if {"Ref": role} in policy["Roles"]
            for statement in policy["PolicyDocument"]["Statement"]
        ]

    def allowed_by(self, function: Mapping[str, Any], *, region: str) -> dict[str, set[str]]:
        """The actions that a function's role allows, by resource; an ARN as text, whatever makes it."""
        allowed: dict[str, set[str]] = {}
        for statement in self.statements(function, region=region):
            if statement["Effect"] == "Deny":
                continue
            actions, resources = statement["Action"], statement["Resource"]
            for resource in resources if isinstance(resources, list) else [resources]:
                named = [actions] if isinstance(actions, str) else actions
                allowed.setdefault(as_text(resource), set()).update(named)
        return allowed

    def allowed(self, package: str, *, region: str = "us-east-1") -> dict[str, set[str]]:
        return self.allowed_by(self.function(package, region=region), region=region)

    def rule(self, target: str, *, region: str) -> Mapping[str, Any]:
        """The rule that starts a function on a schedule."""
        (rule,) = (
            rule
            for rule in self.properties("AWS::Events::Rule", region=region)
            if as_text(rule["Targets"][0]["Arn"]) == target
        )
        return rule

    def retries(self, function: str, *, region: str) -> int:
        """How often Lambda runs a function again whose run nobody waits for."""
        (invoked,) = (
            invoked["MaximumRetryAttempts"]
            for invoked in self.properties("AWS::Lambda::EventInvokeConfig", region=region)
            if as_text(invoked["FunctionName"]) == function
        )
        return int(invoked)

    def table(self, name: str) -> Mapping[str, Any]:
        """The properties of one table."""
        (table,) = (t for t in self.properties("AWS::DynamoDB::GlobalTable") if t["TableName"] == name)
        return table


def is_cdks_own(name: str) -> bool:
    """Whether a logical id is that of the function behind every ``AwsCustomResource`` of a stack."""
    provider = AwsCustomResource.PROVIDER_FUNCTION_UUID.replace("-", "")
    return name.rpartition("/")[2][:-8] == f"AWS{provider}"


def as_text(value: object) -> str:
    """A value as text, whatever function of CloudFormation makes it, without the hashes of logical ids."""
    match value:
        case str():
            return value
        case list():
            return "".join(map(as_text, value))
        case {"Fn::Join": [_, parts]}:
            return as_text(parts)
        case {"Ref": str() as name}:
            return f"<{HASH.sub('', name)}>"
        case {"Fn::GetAtt": [str() as name, str() as attribute]}:
            return f"<{HASH.sub('', name)}.{attribute}>"
        case {"Fn::GetStackOutput": {"StackName": stack, "OutputName": name}}:
            return f"<{stack}.{HASH.sub('', name)}>"
        case _:
            raise AssertionError(value)


PACKAGES = (
    "session_api",
    "audit_consumer",
    "expiry_cleanup",
    "expiry_watch",
    "heartbeat",
    "session_census",
)
"""The functions of a region, by the package of the handler."""

Synthesize = Callable[..., Synthesized]


@pytest.fixture(scope="session")
def synthesize(tmp_path_factory: pytest.TempPathFactory) -> Synthesize:
    """Synthesize with the flags of cdk.json and the context given; dependencies are not bundled."""

    def run(**context: object) -> Synthesized:
        folder = tmp_path_factory.mktemp("cdk.out")
        app = App(context={**FLAGS, "aws:cdk:bundling-stacks": [], **context}, outdir=str(folder))
        deployment = build(app)
        app.synth()
        return Synthesized(deployment=deployment, folder=folder)

    return run


@pytest.fixture(scope="session")
def dev(synthesize: Synthesize) -> Synthesized:
    """One region and nothing set, but with every function."""
    return synthesize(**CENSUS)


@pytest.fixture(scope="session")
def prod(synthesize: Synthesize) -> Synthesized:
    """Three regions, data retained, AWS-managed keys, one delegate, tokens revoked."""
    return synthesize(
        stage="prod",
        regions=",".join(REGIONS),
        encryption="aws_managed",
        delegates=["111122223333:role/gateway"],
        account="111122223333",
        revocationEndpoint="https://idp.example.com/revoke",
    )


@pytest.fixture(scope="session")
def sealed(synthesize: Synthesize) -> Synthesized:
    """Three regions, retained and alarmed, with a key of our own."""
    return synthesize(stage="prod", regions=",".join(REGIONS), encryption="customer_managed")


@pytest.fixture(scope="session")
def local(synthesize: Synthesize) -> Synthesized:
    """What the emulator gets."""
    return synthesize(target="local", stage="local", delegates="000000000000:user/tenant-a", **CENSUS)


@pytest.fixture(scope="session")
def optional(synthesize: Synthesize) -> Synthesized:
    """One region of no account, with all that may stand around the API and the tables."""
    return synthesize(**OPTIONS)


@pytest.fixture(scope="session")
def optional_sealed(synthesize: Synthesize) -> Synthesized:
    """The same under a key of our own, with a topic."""
    return synthesize(**SEALED_OPTIONS)


@pytest.fixture(scope="session")
def cached_apart(synthesize: Synthesize) -> Synthesized:
    """Two regions with a cache each, and a way out."""
    return synthesize(
        stage="prod",
        regions="us-east-1,us-west-1",
        account="111122223333",
        daxNodes=3,
        egress="nat",
        kinesisStream=True,
        auditExport="daily",
        auditExportRetentionDays=100,
    )


@pytest.fixture(scope="session")
def bearer(synthesize: Synthesize) -> Synthesized:
    """Callers show tokens of an issuer."""
    return synthesize(**TOKENS)


@pytest.fixture(scope="session", params=["dev", "prod", "sealed", "local"])
def every(request: pytest.FixtureRequest) -> Synthesized:
    """Each configuration in turn."""
    synthesized: Synthesized = request.getfixturevalue(request.param)
    return synthesized
