"""Draws a panel's lines as SVG, with matplotlib."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from local.dashboard.body import Limit
from local.dashboard.series import Series

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

COLOURS: Final = (
    "#1f6feb",
    "#e8710a",
    "#188038",
    "#c5221f",
    "#8430ce",
    "#00838f",
    "#b06000",
    "#d01884",
    "#5f6368",
    "#7cb342",
)
INK: Final = "#5f6368"
GRID: Final = "#e3e6ea"
DAY: Final = 86_400
"""Matplotlib counts dates in days since 1970."""

MAX_MARKERS: Final = 40
"""Lines with up to so many points have markers, so that a single point is visible."""

RED: Final = "#c5221f"
INCHES_A_COLUMN: Final = 0.62
INCHES_A_ROW: Final = 0.48
INCHES_BESIDE: Final = 0.6
"""Height of a panel's title and legend."""

_STYLE: Final["dict[RcKeyType, object]"] = {
    # Keep text as text: it can be searched, and uses the page's font.
    "svg.fonttype": "none",
    "svg.hashsalt": "session-store",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 8,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Size in columns and rows of the grid, and time in epoch seconds."""

    width: int
    height: int
    start: float
    end: float
    unit: str


def colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def draw(lines: Sequence[Series], *, frame: Frame, limits: Sequence[Limit] = ()) -> str:
    """Return an SVG element with the lines in the colours of their numbers."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(frame.width * INCHES_A_COLUMN, frame.height * INCHES_A_ROW - INCHES_BESIDE))
        axes = figure.add_axes((0.11, 0.16, 0.86, 0.76))
        for number, series in enumerate(lines):
            days = [at / DAY for at in series]
            marker = "o" if len(series) <= MAX_MARKERS else None
            axes.plot(days, list(series.values()), color=colour(number), linewidth=1.4, marker=marker, ms=3)
        _style_axes(axes, frame=frame)
        _draw_limits(axes, limits)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = drawn.getvalue()
    return text[text.index("<svg") :]


def _style_axes(axes: Axes, *, frame: Frame) -> None:
    axes.set_xlim(frame.start / DAY, frame.end / DAY)
    # From zero, with room above, also for a line of zeros.
    axes.set_ylim(0, max(axes.get_ylim()[1] * 1.08, 1))
    # matplotlib warns that its default of five ticks does not fit a few hours of minutes.
    locator = AutoDateLocator(minticks=2, maxticks=5)  # type: ignore[no-untyped-call]  # matplotlib has types for most
    axes.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator, show_offset=False)  # type: ignore[no-untyped-call]  # likewise
    axes.xaxis.set_major_formatter(formatter)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, min_n_ticks=2, integer=frame.unit == ""))
    axes.grid(visible=True, axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, length=0)
    for name, spine in axes.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(GRID)


def _draw_limits(axes: Axes, limits: Sequence[Limit]) -> None:
    """Draw the limits within the axes; one far above would flatten the lines."""
    for limit in limits:
        if limit.value <= axes.get_ylim()[1]:
            axes.axhline(limit.value, color=RED, linewidth=1, linestyle="--")
