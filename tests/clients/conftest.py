"""The API in process, for the client and for the command."""

import pytest

from tests.support.way import Way


@pytest.fixture
def way() -> Way:
    return Way()
