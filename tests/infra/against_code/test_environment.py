"""A function is told what its code reads, and nothing else."""

import ast
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest

import authorizer.settings
from infra.api.function import STREAMS_URL
from infra.bundling import SOURCES
from session_store import settings
from session_store.schema import Env
from tests.infra.against_code.conftest import packages, variables
from tests.infra.conftest import TOKENS, Synthesize, Synthesized
from tests.support.driven import loaded

OF_POWERTOOLS = {
    "POWERTOOLS_LOG_LEVEL",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_SERVICE_NAME",
}
"""Read by aws-lambda-powertools itself."""

OF_BOTOCORE = {STREAMS_URL}
"""Read by botocore itself: test_cache has when it is set, and to what."""

OF_LAMBDA = {settings.REGION_VARIABLE}
"""Set by Lambda itself."""

OF_THE_API = {Env.CALLERS, Env.DELEGATES, Env.GATEWAY_DECODES_PATH}
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


def readers() -> Iterator[tuple[ModuleType, str, Callable[[Mapping[str, str]], Any]]]:
    """What reads settings, with the module where a handler finds it."""
    for module in (settings, authorizer.settings):
        for name, reader in vars(module).items():
            if name.startswith("read_") and reader.__module__ == module.__name__:
                yield module, name, reader


def read_by(package: str, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What the settings readers ask for that the handler's module calls as it is loaded so."""
    read: set[str] = set()

    def noting(reader: Callable[[Mapping[str, str]], Any]) -> Callable[[Mapping[str, str]], Any]:
        return lambda given: reader(_Noted(given, read))

    for module, name, reader in readers():
        monkeypatch.setattr(module, name, noting(reader))
    here = {
        **environment,
        "AWS_REGION": "us-east-1",
        "POWERTOOLS_SERVICE_NAME": f"{package}-environment",
    }
    with loaded(package, here, monkeypatch):
        return read


@pytest.fixture(scope="session")
def fullest(synthesize: Synthesize) -> tuple[Synthesized, ...]:
    """All that an environment can be told is told, in one way of calling and in the other."""
    told = {
        "target": "local",
        "stage": "full",
        "revocationEndpoint": "http://127.0.0.1:8080/revoke",
        "revocationClientSecret": "clients/store",
    }
    return synthesize(**told, delegates="000000000000:user/tenant-a"), synthesize(**told, **TOKENS)


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


def test_what_is_read_can_be_set(fullest: tuple[Synthesized, ...]) -> None:
    unset: dict[str, set[str]] = {}
    for synthesized in fullest:
        for package in packages(synthesized, region="us-east-1"):
            told = variables(synthesized.function(package))
            with pytest.MonkeyPatch.context() as monkeypatch:
                missing = read_by(package, told, monkeypatch) - set(told) - OF_LAMBDA
            if package != "session_api":
                missing -= OF_THE_API
            unset[package] = missing & unset.get(package, missing)
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
            if call.func.id in {name for _, name, _ in readers()}
        }
        elsewhere += [
            f"{file.relative_to(SOURCES)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and node.attr in {"environ", "getenv"}
            and id(node) not in handed
        ]
    assert elsewhere == []
