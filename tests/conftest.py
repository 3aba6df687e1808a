"""Fixtures that more than one folder of tests uses."""

from collections.abc import Iterator

import pytest
from aws_lambda_powertools import Metrics

from tests.support.emulator import deployed, emulator

__all__ = ["deployed", "emulator"]


@pytest.fixture(autouse=True)
def metrics_of_one_test() -> Iterator[None]:
    """Powertools keeps what is counted in one place for the whole process until somebody flushes it."""
    yield
    Metrics().clear_metrics()
