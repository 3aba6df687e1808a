"""What each panel shows, or why it is empty."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from local.dashboard.body import Line, Metric, Panel
from local.dashboard.series import Series, UnsupportedError, evaluate, filled, overall
from local.dashboard.sources import NoSourceError, Source, Window


class State(StrEnum):
    DRAWN = "drawn"
    EMPTY = "empty"
    """It has a source, but no data in the interval."""
    NO_SOURCE = "no source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    label: str
    series: Series
    overall: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    panel: Panel
    state: State
    lines: tuple[Drawn, ...] = ()
    alarms: tuple[tuple[str, str], ...] = ()
    """Name and state."""
    missing: tuple[str, ...] = ()
    """The reasons for missing lines, each once."""


def show(panels: Sequence[Panel], *, source: Source, window: Window) -> tuple[Shown, ...]:
    states = source.alarms()
    return tuple(_shown(panel, states=states, source=source, window=window) for panel in panels)


def _shown(panel: Panel, *, states: Mapping[str, str], source: Source, window: Window) -> Shown:
    if panel.markdown:
        return Shown(panel=panel, state=State.DRAWN)
    if panel.alarms:
        alarms = tuple((name, states.get(name, "not deployed here")) for name in panel.alarms)
        return Shown(panel=panel, state=State.DRAWN, alarms=alarms)
    found, missing = _found(panel, source=source, window=window)
    drawn = tuple(
        _drawn(line, found[line], window) for line in panel.lines if line.is_visible and found.get(line)
    )
    if drawn:
        state = State.DRAWN
    else:
        state = State.EMPTY if any(line in found for line in panel.lines) else State.NO_SOURCE
    return Shown(panel=panel, state=state, lines=drawn, missing=missing)


def _drawn(line: Line, series: Series, window: Window) -> Drawn:
    statistic = line.of.statistic if isinstance(line.of, Metric) else ""
    said = overall([*series.values()], statistic=statistic)
    if isinstance(line.of, Metric) and statistic == "Sum":
        series = filled(series, period=window.period_of(line.of), start=window.start, end=window.end)
    return Drawn(label=line.label, series=series, overall=said)


def _found(panel: Panel, *, source: Source, window: Window) -> tuple[Mapping[Line, Series], tuple[str, ...]]:
    """The series of lines with a source, and the reasons for the others."""
    found: dict[Line, Series] = {}
    missing: dict[str, None] = {}
    # Expressions are evaluated after the metrics that they use.
    for line in sorted(panel.lines, key=lambda line: isinstance(line.of, str)):
        try:
            found[line] = _series(line, found, source=source, window=window)
        except NoSourceError as error:
            missing[str(error)] = None
        except UnsupportedError as error:
            missing[f"this page does not support {error}"] = None
    return found, tuple(missing)


def _series(line: Line, found: Mapping[Line, Series], *, source: Source, window: Window) -> Series:
    if isinstance(line.of, Metric):
        return source.series(line.of, window)
    by_id = dict(_by_id(found))
    if not by_id:
        raise NoSourceError(f"no metric of {line.label} is measured here")
    return evaluate(line.of, by_id=by_id)


def _by_id(found: Mapping[Line, Series]) -> Iterator[tuple[str, Series]]:
    return ((line.id, series) for line, series in found.items() if line.id)
