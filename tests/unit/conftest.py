"""A world for each test."""

import pytest
from aws_lambda_powertools import Metrics

from tests.support.world import World


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    """Powertools counts in one place a process: what a test left is not the next one's."""
    Metrics().clear_metrics()
