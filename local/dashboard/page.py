"""The HTML page: one file that loads no other."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Final

from local.dashboard.body import Panel
from local.dashboard.drawing import Frame, colour, draw
from local.dashboard.rendering import RenderedPanel, State
from local.dashboard.sources import Window

UNKNOWN: Final = "INSUFFICIENT_DATA"
CODE: Final = re.compile(r"`([^`]+)`")
_AS_CODE: Final = r"<code>\1</code>"

_STYLE: Final = """
* { box-sizing: border-box }
body { margin: 0; padding: 16px; background: #f3f5f7; color: #202124;
       font: 13px/1.4 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif }
header { margin: 0 0 12px; padding: 12px 16px; background: #fff;
         border: 1px solid #dfe3e8; border-radius: 6px }
header p { margin: 2px 0; color: #5f6368 }
header strong { color: #202124; font-size: 15px }
main { display: grid; grid-template-columns: repeat(24, minmax(0, 1fr)); grid-auto-rows: 40px; gap: 8px }
section { display: flex; flex-direction: column; overflow: hidden; padding: 8px 10px; background: #fff;
          border: 1px solid #dfe3e8; border-radius: 6px }
section.text { background: none; border: none; padding: 4px 2px; justify-content: end }
h1, h2, h3 { margin: 0; line-height: 1.25 }
h1 { font-size: 22px }
h2 { font-size: 17px }
h3 { font-size: 13px }
h3 small { font-weight: normal; color: #5f6368 }
section p { margin: 2px 0 }
.graph { flex: 1; min-height: 0 }
.graph svg { display: block; width: 100%; height: 100% }
.graph text { font-family: inherit !important }
.legend { display: flex; flex-wrap: wrap; gap: 0 12px; margin: 0; padding: 0;
          list-style: none; font-size: 12px }
.legend i { display: inline-block; width: 10px; height: 3px; margin-right: 5px; vertical-align: middle }
.legend b { font-variant-numeric: tabular-nums }
.why { display: flex; flex: 1; flex-direction: column; justify-content: center; text-align: center;
       color: #5f6368 }
section.no-source { background: #fafbfc; border-style: dashed }
.aside { color: #80868b; font-size: 11px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
.alarms { display: flex; flex-wrap: wrap; gap: 6px; margin: 8px 0 0; padding: 0;
          list-style: none; overflow: auto }
.alarms li { padding: 4px 8px; border-radius: 4px; background: #eceff1; border-left: 4px solid #9aa0a6 }
.alarms li.ok { border-color: #188038 }
.alarms li.alarm { border-color: #c5221f; background: #fce8e6 }
.alarms small { color: #5f6368 }
@media (max-width: 900px) { section { grid-column: 1 / -1 !important; grid-row: auto / span 6 !important } }
"""


def page(rendered: Sequence[RenderedPanel], *, window: Window, unreadable: int) -> str:
    sections = "\n".join(_section(each, window) for each in rendered)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<title>Session store: local dashboard</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{_summary(rendered, window, unreadable)}\n"
        f"<main>\n{sections}\n</main>\n</body>\n</html>\n"
    )


def summary_line(rendered: Sequence[RenderedPanel]) -> str:
    """Say how many panels have a source and how many of them are empty."""
    states = Counter(each.state for each in rendered if not each.panel.markdown)
    here, nothing = states[State.DRAWN] + states[State.EMPTY], states[State.EMPTY]
    return f"{here} of {states.total()} panels have a source here; {nothing} of these are still empty"


def _summary(rendered: Sequence[RenderedPanel], window: Window, unreadable: int) -> str:
    period = f"periods of {window.period} s" if window.period else "each panel's own period"
    lines = [
        f"{_clock(window.start)} to {_clock(window.end)} UTC, in {period}.",
        "The functions' metrics come from their logs; a count is zero where they logged none.",
        "A panel says which of its metrics the emulator does not have.",
    ]
    if unreadable:
        lines.append(f"Log lines marked as metrics that could not be parsed: {unreadable}.")
    return (
        f"<header><strong>{escape(summary_line(rendered))}</strong>\n"
        + "\n".join(f"<p>{escape(line)}</p>" for line in lines)
        + "</header>"
    )


def _section(rendered: RenderedPanel, window: Window) -> str:
    panel = rendered.panel
    place = f"grid-column: {panel.x + 1} / span {panel.width}; grid-row: {panel.y + 1} / span {panel.height}"
    kind = "text" if panel.markdown else rendered.state.value.replace(" ", "-")
    return f'<section class="{kind}" style="{place}">{"".join(_content(rendered, window))}</section>'


def _content(rendered: RenderedPanel, window: Window) -> Iterator[str]:
    panel = rendered.panel
    if panel.markdown:
        yield _markdown(panel.markdown)
        return
    unit = f" <small>{escape(panel.unit)}</small>" if panel.unit else ""
    yield f"<h3>{escape(panel.title)}{unit}</h3>"
    if panel.alarms:
        yield _alarms(rendered)
    elif rendered.lines:
        yield _graph(rendered, window)
    else:
        yield _reasons(rendered)


def _markdown(text: str) -> str:
    """Convert the Markdown that the dashboard uses: a heading, a line below it, names in backticks."""
    first, _, rest = text.partition("\n")
    level, _, title = first.partition(" ")
    return f"<h{len(level)}>{escape(title)}</h{len(level)}><p>{CODE.sub(_AS_CODE, escape(rest))}</p>"


def _alarms(rendered: RenderedPanel) -> str:
    items = (
        f'<li class="{escape(state.lower())}">{escape(name)} <small>{escape(state)}</small></li>'
        for name, state in rendered.alarms
    )
    unknown = {state for _, state in rendered.alarms} == {UNKNOWN}
    aside = '<p class="aside">no source here: the emulator evaluates no alarms</p>' if unknown else ""
    return f'<ul class="alarms">{"".join(items)}</ul>{aside}'


def _graph(rendered: RenderedPanel, window: Window) -> str:
    panel = rendered.panel
    svg = draw([line.series for line in rendered.lines], frame=_frame(panel, window), limits=panel.limits)
    legend = "".join(
        f'<li><i style="background: {colour(number)}"></i>{escape(line.label)} '
        f"<b>{line.overall:,.6g}</b></li>"
        for number, line in enumerate(rendered.lines)
    )
    missing = "; ".join(rendered.missing)
    aside = f'<p class="aside">no source here: {escape(missing)}</p>' if missing else ""
    return f'<div class="graph">{svg}</div><ul class="legend">{legend}</ul>{aside}'


def _frame(panel: Panel, window: Window) -> Frame:
    return Frame(width=panel.width, height=panel.height, start=window.start, end=window.end, unit=panel.unit)


def _reasons(rendered: RenderedPanel) -> str:
    reasons = "".join(f"<p>no source here: {escape(reason)}</p>" for reason in rendered.missing)
    empty = "<p>no values in this time</p>" if rendered.state is State.EMPTY else ""
    return f'<div class="why">{empty}{reasons}</div>'


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
