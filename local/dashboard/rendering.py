"""Panels with their series, or the reasons why they have none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from local.dashboard.body import Line, Panel, PanelMetric
from local.dashboard.series import Series, UnsupportedError, evaluate, fill_zeros, overall
from local.dashboard.sources import NoSourceError, Source, Window


class State(StrEnum):
    DRAWN = "drawn"
    EMPTY = "empty"
    """The metrics have a source here, but no values in the time shown."""
    NO_SOURCE = "no source"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLine:
    label: str
    series: Series
    overall: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPanel:
    panel: Panel
    state: State
    lines: tuple[DrawnLine, ...] = ()
    alarms: tuple[tuple[str, str], ...] = ()
    """Name and state."""
    missing: tuple[str, ...] = ()
    """Why lines are missing, each reason once."""


def render_panels(panels: Sequence[Panel], *, source: Source, window: Window) -> tuple[RenderedPanel, ...]:
    states = source.alarms()
    return tuple(_rendered(panel, states=states, source=source, window=window) for panel in panels)


def _rendered(panel: Panel, *, states: Mapping[str, str], source: Source, window: Window) -> RenderedPanel:
    if panel.markdown:
        return RenderedPanel(panel=panel, state=State.DRAWN)
    if panel.alarms:
        alarms = tuple((name, states.get(name, "not deployed here")) for name in panel.alarms)
        return RenderedPanel(panel=panel, state=State.DRAWN, alarms=alarms)
    series, missing = _series_by_line(panel, source=source, window=window)
    drawn = tuple(
        _drawn(line, series[line], window) for line in panel.lines if line.is_visible and series.get(line)
    )
    if drawn:
        state = State.DRAWN
    else:
        state = State.EMPTY if any(line in series for line in panel.lines) else State.NO_SOURCE
    return RenderedPanel(panel=panel, state=state, lines=drawn, missing=missing)


def _drawn(line: Line, series: Series, window: Window) -> DrawnLine:
    statistic = line.of.statistic if isinstance(line.of, PanelMetric) else ""
    total = overall([*series.values()], statistic=statistic)
    if isinstance(line.of, PanelMetric) and statistic == "Sum":
        series = fill_zeros(series, period=window.period_of(line.of), start=window.start, end=window.end)
    return DrawnLine(label=line.label, series=series, overall=total)


def _series_by_line(
    panel: Panel, *, source: Source, window: Window
) -> tuple[Mapping[Line, Series], tuple[str, ...]]:
    """Return the series of the lines that have a source, and why the others have none."""
    known: dict[Line, Series] = {}
    missing: dict[str, None] = {}
    # Expressions last, since they refer to metrics that may come after them.
    for line in sorted(panel.lines, key=lambda line: isinstance(line.of, str)):
        try:
            known[line] = _series(line, known, source=source, window=window)
        except NoSourceError as error:
            missing[str(error)] = None
        except UnsupportedError as error:
            missing[f"this page does not support {error}"] = None
    return known, tuple(missing)


def _series(line: Line, known: Mapping[Line, Series], *, source: Source, window: Window) -> Series:
    if isinstance(line.of, PanelMetric):
        return source.series(line.of, window)
    by_id = dict(_by_id(known))
    if not by_id:
        raise NoSourceError(f"no metric of {line.label} is collected here")
    return evaluate(line.of, by_id=by_id)


def _by_id(known: Mapping[Line, Series]) -> Iterator[tuple[str, Series]]:
    return ((line.id, series) for line, series in known.items() if line.id)
