"""A function is told what its code reads, and nothing else."""

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from infra.api.function import STREAMS_URL
from infra.bundling import SOURCES
from session_store import settings
from session_store.schema import Env
from tests.infra.against_code.conftest import packages, variables
from tests.infra.conftest import Synthesize, Synthesized
from tests.support.driven import loaded

OF_POWERTOOLS = {
    "POWERTOOLS_LOG_LEVEL",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_SERVICE_NAME",
    "POWERTOOLS_TRACE_DISABLED",
}
"""Read by aws-lambda-powertools itself."""

OF_BOTOCORE = {STREAMS_URL}
"""Read by botocore itself: test_cache has when it is set, and to what."""

OF_LAMBDA = {settings.REGION_VARIABLE}
"""Set by Lambda itself."""

OF_THE_API = {Env.DELEGATES, Env.GATEWAY_DECODES_PATH}
"""Read by every function among what is the same for all, and acted on by the API's alone."""


class _Noted(Mapping[str, str]):
    """An environment that notes what is asked of it."""

    def __init__(self, variables: Mapping[str, str], read: set[str]) -> None:
        self._variables = variables
        self._read = read

    def __getitem__(self, name: str) -> str:
        self._read.add(str(name))
        return self._variables[name]

    def __contains__(self, name: object) -> bool:
        self._read.add(str(name))
        return name in self._variables

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("settings are read by their names")

    def __len__(self) -> int:
        return len(self._variables)


def read_by(package: str, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What the settings readers ask for that the handler's module calls as it is loaded so."""
    read: set[str] = set()

    def noting(reader: Callable[[Mapping[str, str]], Any]) -> Callable[[Mapping[str, str]], Any]:
        return lambda given: reader(_Noted(given, read))

    for name, reader in vars(settings).items():
        if name.startswith("read_"):
            monkeypatch.setattr(settings, name, noting(reader))
    here = {
        **environment,
        "AWS_REGION": "us-east-1",
        "POWERTOOLS_TRACE_DISABLED": "true",
        "POWERTOOLS_SERVICE_NAME": f"{package}-environment",
    }
    with loaded(package, here, monkeypatch):
        return read


@pytest.fixture(scope="session")
def fullest(synthesize: Synthesize) -> Synthesized:
    """All that an environment can be told is told."""
    return synthesize(
        target="local",
        stage="full",
        delegates="000000000000:user/tenant-a",
        revocationEndpoint="http://127.0.0.1:8080/revoke",
        revocationClientSecret="clients/store",
    )


def test_what_is_set_is_read(every: Synthesized) -> None:
    unread = {}
    for region in every.regions:
        for package in packages(every, region=region):
            told = variables(every.function(package, region=region))
            with pytest.MonkeyPatch.context() as monkeypatch:
                monkeypatch.setenv("SESSION_REGIONS", "us-east-1")
                unread[region, package] = set(told) - read_by(package, told, monkeypatch)
    of_libraries = OF_POWERTOOLS | OF_BOTOCORE
    assert {where: names - of_libraries for where, names in unread.items() if names - of_libraries} == {}


def test_what_is_read_can_be_set(fullest: Synthesized) -> None:
    unset = {}
    for package in packages(fullest, region="us-east-1"):
        told = variables(fullest.function(package))
        with pytest.MonkeyPatch.context() as monkeypatch:
            unset[package] = read_by(package, told, monkeypatch) - set(told) - OF_LAMBDA
            if package != "session_api":
                unset[package] -= OF_THE_API
    assert {package: names for package, names in unset.items() if names} == {}


def test_settings_alone_read_the_environment() -> None:
    """Handlers hand it to them, and nothing else knows of it."""
    elsewhere = []
    for file in sorted(SOURCES.rglob("*.py")):
        tree = ast.parse(file.read_text())
        handed = {
            id(argument)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            for argument in call.args
            if call.func.id.startswith("read_") and call.func.id in vars(settings)
        }
        elsewhere += [
            f"{file.relative_to(SOURCES)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and node.attr in {"environ", "getenv"}
            and id(node) not in handed
        ]
    assert elsewhere == []
