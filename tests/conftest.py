"""Fixtures that more than one folder of tests uses."""

from collections.abc import Iterator

import pytest
from aws_lambda_powertools import Metrics
from hypothesis import HealthCheck, settings

from tests.support.emulator import deployed, emulator
from tests.support.machine import forget_this_machine

__all__ = ["deployed", "emulator"]

forget_this_machine()

# How long an example takes tells of the machine and of what else it does, not of what is tested.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def metrics_of_one_test() -> Iterator[None]:
    """Powertools keeps what is counted in one place for the whole process until somebody flushes it."""
    yield
    Metrics().clear_metrics()
