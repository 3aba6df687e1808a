"""Both sides of the comparison: what a configuration provisions, and what its functions really use."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from local.emulator import Emulator
from tests.infra.conftest import Synthesized, as_text
from tests.support.aws_calls import AwsCalls
from tests.support.driven import driven
from tests.support.ground import Ground
from tests.support.redrive import deployed_places
from tests.support.revocation import authorization_server

Driven = Callable[[Synthesized, str], AwsCalls]
"""What a function asks of AWS where it is configured so."""


def packages(synthesized: Synthesized, *, region: str) -> list[str]:
    """Of the functions that the template has, whatever they are."""
    return [function["Handler"].partition(".")[0] for function in synthesized.functions(region=region)]


def variables(function: Mapping[str, Any]) -> dict[str, str]:
    return {name: as_text(value) for name, value in function["Environment"]["Variables"].items()}


@pytest.fixture(scope="session", params=["dev", "prod", "optional_sealed", "local", "bearer"])
def every(request: pytest.FixtureRequest) -> Synthesized:
    """Each configuration in which functions are told or granted something of their own, in turn."""
    synthesized: Synthesized = request.getfixturevalue(request.param)
    return synthesized


@pytest.fixture(scope="session")
def ground(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with (
        deployed_places(emulator, tmp_path_factory.mktemp("driven")) as places,
        authorization_server() as server,
    ):
        bus = f"driven-{places.name}"
        emulator.client("events").create_event_bus(Name=bus)
        payloads = f"payloads-{places.name}"
        emulator.client("s3").create_bucket(Bucket=payloads)
        yield Ground(places=places, bus=bus, payloads=payloads, server=server)


@pytest.fixture(scope="session")
def drive(ground: Ground) -> Driven:
    """Each function once a configuration."""

    @cache
    def once(package: str, environment: frozenset[tuple[str, str]]) -> AwsCalls:
        with pytest.MonkeyPatch.context() as monkeypatch:
            return driven(package, dict(environment), ground, monkeypatch)

    def run(synthesized: Synthesized, package: str) -> AwsCalls:
        function = synthesized.function(package, region=synthesized.regions[0])
        return once(package, frozenset(variables(function).items()))

    return run
