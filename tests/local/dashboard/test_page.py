"""The page shows each panel at its position, with its lines or the reason why it has none."""

import re
import xml.etree.ElementTree as ET  # the page is our own
from html.parser import HTMLParser

import pytest

from local.dashboard.body import Limit, Line, Panel
from local.dashboard.page import page, summary_line
from local.dashboard.rendering import RenderedPanel, State, render_panels
from tests.local.dashboard.samples import COUNTS, WINDOW, FixedSource, metric, panel

SERVED = Line(label="Served", of=metric("Served"))
UNITS = Line(label="units", of=metric("ConsumedWriteCapacityUnits", namespace="AWS/DynamoDB"))
NO_UNITS = "the emulator has no metrics in AWS/DynamoDB ConsumedWriteCapacityUnits"


def shown(*panels: Panel, source: FixedSource | None = None) -> tuple[RenderedPanel, ...]:
    return render_panels(panels, source=source or FixedSource({"Served": COUNTS}), window=WINDOW)


def drawn(*panels: Panel, source: FixedSource | None = None, unreadable: int = 0) -> str:
    return page(shown(*panels, source=source), window=WINDOW, unreadable=unreadable)


def test_a_line_is_drawn_with_its_total() -> None:
    text = drawn(panel(SERVED))
    assert "Served <b>7</b>" in text
    (svg,) = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314 - drawn a moment ago


def test_a_count_is_zero_between_two_that_lie_apart() -> None:
    ((one,),) = (each.lines for each in shown(panel(SERVED)))
    assert one.series == {0: 0, 60: 2, 120: 5, **dict.fromkeys(range(180, 600, 60), 0)}


def test_only_counts_are_filled_with_zeros() -> None:
    slow = Line(label="p99", of=metric("Served", statistic="p99"))
    ((one,),) = (each.lines for each in shown(panel(slow)))
    assert (one.series, one.overall) == (COUNTS, 5)


def test_a_panel_without_a_source_says_why() -> None:
    (one,) = shown(panel(UNITS))
    assert (one.state, one.missing) == (State.NO_SOURCE, (NO_UNITS,))
    text = drawn(panel(UNITS))
    assert f"no source here: {NO_UNITS}" in text
    assert "<svg" not in text


def test_a_reason_is_shown_once() -> None:
    (one,) = shown(panel(UNITS, Line(label="again", of=UNITS.of)))
    assert one.missing == (NO_UNITS,)


def test_a_line_without_a_source_is_named_beside_the_others() -> None:
    text = drawn(panel(SERVED, UNITS))
    assert "Served <b>7</b>" in text
    assert f"no source here: {NO_UNITS}" in text


def test_an_empty_source_differs_from_no_source() -> None:
    (one,) = shown(panel(SERVED), source=FixedSource({"Served": {}}))
    assert one.state is State.EMPTY
    assert "no values in this time" in drawn(panel(SERVED), source=FixedSource({"Served": {}}))


RATE = Line(label="rate", of="100 * hits / (hits + misses)")
PARTS = tuple(
    Line(label=name, of=metric(name), id=name.lower(), is_visible=False) for name in ("Hits", "Misses")
)


def test_an_expression_is_drawn_and_its_parts_are_not() -> None:
    source = FixedSource({"Hits": {60.0: 3.0}, "Misses": {60.0: 1.0}})
    ((one,),) = (each.lines for each in shown(panel(RATE, *PARTS), source=source))
    assert (one.label, one.series) == ("rate", {60: 75})


def test_an_unsupported_expression_is_named() -> None:
    strange = Line(label="rate", of="RATE(hits)")
    source = FixedSource({"Hits": COUNTS, "Misses": COUNTS})
    (one,) = shown(panel(strange, *PARTS), source=source)
    assert one.missing == ("this page does not support the expression RATE(hits)",)


def test_an_expression_of_metrics_without_a_source_has_none() -> None:
    (one,) = shown(panel(RATE, *PARTS), source=FixedSource())
    assert one.state is State.NO_SOURCE
    assert "no metric of rate is collected here" in one.missing


def test_alarms_are_shown_with_their_states() -> None:
    board = panel(alarms=("late", "lost"))
    text = drawn(board, source=FixedSource(states={"late": "ALARM"}))
    assert '<li class="alarm">late <small>ALARM</small></li>' in text
    assert "lost <small>not deployed here</small>" in text
    assert "evaluates no alarm" not in text


def test_alarms_that_are_not_evaluated_are_marked() -> None:
    board = panel(alarms=("late", "lost"))
    unknown = FixedSource(states=dict.fromkeys(("late", "lost"), "INSUFFICIENT_DATA"))
    assert "no source here: the emulator evaluates no alarm" in drawn(board, source=unknown)


def test_a_panel_stands_where_the_dashboard_has_it() -> None:
    assert "grid-column: 13 / span 6; grid-row: 11 / span 9" in drawn(panel(SERVED, x=12, y=10, height=9))


@pytest.mark.parametrize("reading", ["title", "unit", "label", "markdown", "alarm", "reason"])
def test_nothing_that_is_shown_becomes_markup(reading: str) -> None:
    bad = "<script>alert('1')</script>&\"$x$"
    evil = {
        "title": panel(SERVED, title=bad),
        "unit": panel(SERVED, unit=bad),
        "label": panel(Line(label=bad, of=metric("Served"))),
        "markdown": panel(markdown=f"# {bad}\n{bad}"),
        "alarm": panel(alarms=(bad,)),
        "reason": panel(Line(label="x", of=metric(bad))),
    }[reading]
    text = drawn(evil)
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_the_text_of_a_heading_is_shown_with_names_as_code() -> None:
    assert "<h2>Traffic</h2><p>see <code>docs</code></p>" in drawn(panel(markdown="## Traffic\nsee `docs`"))


def test_a_limit_is_drawn_where_it_is_in_sight() -> None:
    near, far = (panel(SERVED, limits=(Limit(value=value, label="alarm"),)) for value in (4.0, 4000.0))
    assert "#c5221f" in drawn(near).partition("<main>")[2]
    assert "#c5221f" not in drawn(far).partition("<main>")[2]


def test_the_summary_counts_the_panels_that_have_a_source() -> None:
    panels = [panel(markdown="# Title"), panel(SERVED), panel(UNITS), panel(SERVED)]
    assert summary_line(shown(*panels)).startswith("2 of 3 panels have a source here; 0 of these")
    assert summary_line(shown(*panels)) in drawn(*panels)


def test_malformed_lines_are_mentioned_if_there_are_any() -> None:
    assert "could not be parsed: 3" in drawn(panel(SERVED), unreadable=3)
    assert "are not" not in drawn(panel(SERVED))


class Loading(HTMLParser):
    """Collects the references of a page to other resources."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None]] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"src", "href", "xlink:href"} and not str(value).startswith("#"):
                self.found.append((name, value))


def test_the_page_loads_nothing() -> None:
    reader = Loading()
    text = drawn(panel(SERVED, UNITS))
    reader.feed(text)
    assert reader.found == []
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
