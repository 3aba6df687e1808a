"""A panel can be drawn for any span of time."""

import pytest

from local.dashboard.drawing import Frame, draw

BEGAN = 1_790_000_000.0


@pytest.mark.parametrize("minutes", [0.5, 1.9, 2, 4.5, 8, 59, 119, 121, 270, 1439, 2879, 50_000])
def test_the_axis_has_a_few_times_on_it_and_matplotlib_no_complaint(minutes: float) -> None:
    ended = BEGAN + minutes * 60
    frame = Frame(width=6, height=6, start=BEGAN, end=ended, unit="")
    picture = draw([{BEGAN: 1.0, ended: 2.0}], frame=frame)
    assert 1 <= picture.count('id="xtick_') <= 7
