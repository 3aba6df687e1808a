"""Draws a panel's lines as SVG with matplotlib."""

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
"""Matplotlib's dates are days since 1970."""

FEW: Final = 40
"""Lines with up to so many points get markers: a single point would be invisible."""

RED: Final = "#c5221f"
INCHES_A_COLUMN: Final = 0.62
INCHES_A_ROW: Final = 0.48
INCHES_BESIDE: Final = 0.6
"""The share of a panel's height for title and legend."""

_STYLE: Final["dict[RcKeyType, object]"] = {
    # Text is kept as text, so that it is searchable and in the page's font.
    "svg.fonttype": "none",
    "svg.hashsalt": "session-store",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 8,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Size in the grid, and interval in epoch seconds."""

    width: int
    height: int
    start: float
    end: float
    unit: str


def colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def draw(lines: Sequence[Series], *, frame: Frame, limits: Sequence[Limit] = ()) -> str:
    """The SVG element, with colours by line number and a point per value."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(frame.width * INCHES_A_COLUMN, frame.height * INCHES_A_ROW - INCHES_BESIDE))
        axes = figure.add_axes((0.11, 0.16, 0.86, 0.76))
        for number, series in enumerate(lines):
            days = [at / DAY for at in series]
            marker = "o" if len(series) <= FEW else None
            axes.plot(days, list(series.values()), color=colour(number), linewidth=1.4, marker=marker, ms=3)
        _dress(axes, frame=frame)
        _limit(axes, limits)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = drawn.getvalue()
    return text[text.index("<svg") :]


def _dress(axes: Axes, *, frame: Frame) -> None:
    axes.set_xlim(frame.start / DAY, frame.end / DAY)
    # From zero, with room above, also for a line of zeros.
    axes.set_ylim(0, max(axes.get_ylim()[1] * 1.08, 1))
    # Two ticks are enough: matplotlib warns of too many with five over a few hours.
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


def _limit(axes: Axes, limits: Sequence[Limit]) -> None:
    """Limits within the range of the values: one far above would flatten the lines."""
    for limit in limits:
        if limit.value <= axes.get_ylim()[1]:
            axes.axhline(limit.value, color=RED, linewidth=1, linestyle="--")
