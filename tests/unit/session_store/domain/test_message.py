"""A message's id tells its time."""

import pytest

from session_store.domain.message import off_clock
from tests.support.samples import NOW_MS
from tests.support.world import CountingIds

FIVE_MINUTES = 300_000


@pytest.mark.parametrize(
    ("off", "expected"),
    [
        (0, False),
        (FIVE_MINUTES, False),
        (-FIVE_MINUTES, False),
        (FIVE_MINUTES + 1, True),
        (-FIVE_MINUTES - 1, True),
    ],
)
def test_an_id_may_be_five_minutes_off_the_clock(off: int, *, expected: bool) -> None:
    assert off_clock(CountingIds().message_id(NOW_MS + off), NOW_MS) is expected
