"""One Hypothesis profile for the folder, and a world for each test."""

import pytest
from hypothesis import settings

from tests.support.world import World

settings.register_profile("unit", deadline=None, max_examples=100)
settings.load_profile("unit")


@pytest.fixture
def world() -> World:
    return World()
