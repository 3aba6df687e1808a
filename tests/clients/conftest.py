"""The API in process, for the client and the command."""

import pytest

from tests.support.in_process_transport import InProcessTransport


@pytest.fixture
def transport() -> InProcessTransport:
    return InProcessTransport()
