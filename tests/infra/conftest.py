"""Synthesized templates, one synthesis a configuration a test run."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

from infra.app_builder import Deployment, build

ROOT = Path(__file__).resolve().parent.parent.parent
FLAGS: Mapping[str, object] = json.loads((ROOT / "cdk.json").read_text())["context"]
REGIONS = ("us-east-1", "eu-west-1", "ap-northeast-1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesized:
    """What one configuration synthesizes to."""

    deployment: Deployment
    folder: Path

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.template.json"))

    def resources(self, kind: str, *, stack: str = "") -> list[Mapping[str, Any]]:
        """The resources of a type, in every stack whose name ends in ``stack``."""
        return [
            resource
            for file in self.files
            if file.name.endswith(f"{stack}.template.json")
            for resource in json.loads(file.read_text())["Resources"].values()
            if resource["Type"] == kind
        ]

    def properties(self, kind: str, *, stack: str = "") -> list[Mapping[str, Any]]:
        return [resource["Properties"] for resource in self.resources(kind, stack=stack)]

    def function(self, package: str, *, region: str = "us-east-1") -> Mapping[str, Any]:
        """The properties of the function whose handler is in a package."""
        (function,) = (
            found
            for found in self.properties("AWS::Lambda::Function", stack=f"Regional-{region}")
            if found["Handler"] == f"{package}.handler.handler"
        )
        return function

    def allowed(self, package: str, *, region: str = "us-east-1") -> dict[str, set[str]]:
        """The actions that a function's role allows, by resource; an ARN as text, whatever makes it."""
        ((role, _),) = [self.function(package, region=region)["Role"]["Fn::GetAtt"]]
        allowed: dict[str, set[str]] = {}
        for policy in self.properties("AWS::IAM::Policy", stack=f"Regional-{region}"):
            if {"Ref": role} not in policy["Roles"]:
                continue
            for statement in policy["PolicyDocument"]["Statement"]:
                assert statement["Effect"] == "Allow"
                actions, resources = statement["Action"], statement["Resource"]
                for resource in resources if isinstance(resources, list) else [resources]:
                    named = [actions] if isinstance(actions, str) else actions
                    allowed.setdefault(as_text(resource), set()).update(named)
        return allowed

    def table(self, name: str) -> Mapping[str, Any]:
        """The properties of one table."""
        (table,) = (t for t in self.properties("AWS::DynamoDB::GlobalTable") if t["TableName"] == name)
        return table


def as_text(value: object) -> str:
    """A value as text, whatever function of CloudFormation makes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(as_text, value))
    if isinstance(value, dict):
        ((name, inner),) = value.items()
        return as_text(inner[1]) if name == "Fn::Join" else f"<{as_text(inner)}>"
    raise AssertionError(value)


PACKAGES = ("session_api", "audit_consumer", "expiry_cleanup", "expiry_watch")
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
    """One region and nothing set."""
    return synthesize()


@pytest.fixture(scope="session")
def prod(synthesize: Synthesize) -> Synthesized:
    """Three regions, data retained, AWS-managed keys, one delegate."""
    return synthesize(
        stage="prod",
        regions=",".join(REGIONS),
        encryption="aws_managed",
        delegates=["111122223333:role/gateway"],
        account="111122223333",
    )


@pytest.fixture(scope="session")
def local(synthesize: Synthesize) -> Synthesized:
    """What the emulator gets."""
    return synthesize(target="local", stage="local", delegates="000000000000:user/tenant-a")


@pytest.fixture(scope="session", params=["dev", "prod", "local"])
def every(request: pytest.FixtureRequest) -> Synthesized:
    """Each configuration in turn."""
    synthesized: Synthesized = request.getfixturevalue(request.param)
    return synthesized
