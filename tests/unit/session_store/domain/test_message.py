"""A message id has a time, which must be near the clock."""

import pytest

from session_store.domain.message import check_on_clock, is_off_clock
from session_store.errors import InvalidRequestError
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
    assert is_off_clock(CountingIds().message_id(NOW_MS + off), NOW_MS) is expected


def test_a_new_id_of_another_time_is_refused_by_its_path() -> None:
    check_on_clock(CountingIds().message_id(NOW_MS + FIVE_MINUTES), NOW_MS, path="$.here")
    with pytest.raises(InvalidRequestError) as refused:
        check_on_clock(CountingIds().message_id(NOW_MS + FIVE_MINUTES + 1), NOW_MS, path="$.here")
    assert refused.value.facts == {"path": "$.here"}
    assert "300 s" in refused.value.detail
