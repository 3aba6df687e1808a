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

    def table(self, name: str) -> Mapping[str, Any]:
        """The properties of one table."""
        (table,) = (t for t in self.properties("AWS::DynamoDB::GlobalTable") if t["TableName"] == name)
        return table


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
