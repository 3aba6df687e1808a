"""One Hypothesis profile for the folder, and a world for each test."""

import pytest
from aws_lambda_powertools import Metrics
from hypothesis import settings

from tests.support.world import World

settings.register_profile("unit", deadline=None, max_examples=100)
settings.load_profile("unit")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    """Powertools counts in one place a process: what a test left is not the next one's."""
    Metrics().clear_metrics()
