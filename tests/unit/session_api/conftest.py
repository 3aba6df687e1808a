"""The API in process, and helpers for its calls."""

import pytest

from tests.support.api import InProcessApi
from tests.support.session_calls import Session
from tests.support.task_calls import Queue
from tests.support.world import World


@pytest.fixture
def api(world: World) -> InProcessApi:
    return InProcessApi(world)


@pytest.fixture
def session(api: InProcessApi) -> Session:
    return Session(api)


@pytest.fixture
def queue(api: InProcessApi) -> Queue:
    return Queue(api)
