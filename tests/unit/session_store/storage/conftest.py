from collections.abc import Iterator

import pytest

from tests.support.stubbed import Stubbed


@pytest.fixture
def stubbed() -> Iterator[Stubbed]:
    made = Stubbed()
    with made.stubber:
        yield made
        made.stubber.assert_no_pending_responses()
