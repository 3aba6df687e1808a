"""Session-scoped fixtures: one emulator a test run, and the CDK app deployed into it once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from local.credentials import Credentials
from local.deployment import Deployed, deploy
from local.emulator import Emulator, running
from local.loopback import free_port
from local.principals import DELEGATES, provision
from local.signed_http import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveStack:
    """The deployed app, and the callers it knows."""

    emulator: Emulator
    deployed: Deployed
    keys: Mapping[str, Credentials]
    """Of ``tenant-a`` and ``tenant-b``, who are delegates, and of ``operator``."""
    credentials: Path
    """The file their keys are in."""

    def api(self, name: str | None = None) -> Api:
        """A caller signed in as ``name``; without one, unsigned."""
        return Api(self.deployed.api_url, self.keys[name] if name is not None else None)

    def function(self, package: str) -> str:
        """The name of the deployed function whose handler is in a package."""
        listed = self.emulator.client("lambda").list_functions()["Functions"]
        (name,) = (each["FunctionName"] for each in listed if each["Handler"] == f"{package}.handler.handler")
        return str(name)

    def variables(self, package: str) -> Mapping[str, str]:
        """The environment variables that a deployed function was given."""
        functions = self.emulator.client("lambda")
        found = functions.get_function_configuration(FunctionName=self.function(package))
        variables: Mapping[str, str] = found["Environment"]["Variables"]
        return variables

    def configure(self, package: str, **variables: str) -> None:
        """Give a deployed function these environment variables beside its own."""
        self.emulator.client("lambda").update_function_configuration(
            FunctionName=self.function(package),
            Environment={"Variables": {**self.variables(package), **variables}},
        )


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    with running(tmp_path_factory.mktemp("emulator"), port=free_port()) as started:
        yield started


@pytest.fixture(scope="session")
def deployed(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> LiveStack:
    folder = tmp_path_factory.mktemp("deployed")
    outputs = deploy(emulator, delegates=DELEGATES, revocation_endpoint=None, say=print)
    credentials = folder / "credentials"
    keys = provision(emulator, deployed=outputs, file=credentials)
    return LiveStack(emulator=emulator, deployed=outputs, keys=keys, credentials=credentials)
