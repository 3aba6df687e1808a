"""``python -m bench.growth [10000]``: the cost of a message as the transcript grows."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.ground import ground
from bench.peers import OneItem, Ours, Peer, RefusedError
from bench.report import publish, table
from bench.spending import Spending
from session_store.settings import read_settings

CONTENT: Final = "x" * 1000
LAST: Final = 20
AT: Final = (1, 20, 100, 300, 390, 1000, 2000)
"""The messages that are measured, by number."""

ABOUT: Final = """\
Messages of 1,000 bytes, appended to one session one per call through the library's use cases. Write units
are taken from DynamoDB's responses, read units are computed from the bytes read. For comparison, the
transcript as a list in the session's item, grown by `list_append`: every append writes the whole item, so
its cost grows with the transcript, and it ends at DynamoDB's 400 KB. A number after the command adds that
message to the table."""


@dataclass(frozen=True, slots=True)
class Point:
    """At one message: units to write it, to read it with those before, and of all writes so far."""

    written: float
    read: float
    total: float


@dataclass(slots=True)
class Curve:
    """``ended``: the number of the first message that was refused."""

    name: str
    points: dict[int, Point] = field(default_factory=dict)
    ended: int | None = None


def main(at: Sequence[int] = AT, *, arguments: Sequence[str] = ()) -> None:
    at = (*at, *map(int, arguments))
    with ground() as where:
        curves = []
        makers: tuple[Callable[[object], Peer], ...] = (
            lambda client: Ours.on(client, read_settings(os.environ)),
            OneItem,
        )
        for make in makers:
            client, spending = where.watched()
            curves.append(grown(make(client), spending, at))
    command = " ".join(("python -m bench.growth", *arguments))
    publish("Growth of a transcript", command=command, about=ABOUT, results=results(curves, at))


def grown(peer: Peer, spending: Spending, at: Sequence[int]) -> Curve:
    curve = Curve(peer.name)
    session, total = peer.open(), 0.0
    spending.taken()
    for number in range(1, max(at) + 1):
        try:
            peer.append(session, CONTENT)
        except RefusedError:
            curve.ended = number
            return curve
        spent = spending.taken()
        written = float(spent.writes.total())
        total += written
        if number in at:
            assert peer.last(session, LAST) == min(LAST, number)
            curve.points[number] = Point(written, spending.taken().reads, total)
    return curve


def results(curves: Sequence[Curve], at: Sequence[int]) -> str:
    heads = ["message", *(head for curve in curves for head in _heads(curve))]
    rows = [[f"{number:,}", *(cell for curve in curves for cell in _cells(curve, number))] for number in at]
    return "\n\n".join((table(heads, rows), "\n".join(_remarks(curves))))


def _heads(curve: Curve) -> Sequence[str]:
    return [f"{curve.name}: write units", "total so far", "read units of the last 20"]


def _cells(curve: Curve, number: int) -> Sequence[str]:
    point = curve.points.get(number)
    if point is None:
        return ["none", "none", "none"]
    return [f"{point.written:,.0f}", f"{point.total:,.0f}", f"{point.read:g}"]


def _remarks(curves: Sequence[Curve]) -> Iterator[str]:
    for curve in curves:
        first, last = min(curve.points), max(curve.points)
        ratio = curve.points[last].written / curve.points[first].written
        yield f"- {curve.name}: write units of message {last:,} over the first: **{ratio:.2f}**"
        if curve.ended is not None:
            yield f"- {curve.name}: message {curve.ended:,} and every later one are refused"


if __name__ == "__main__":
    main(arguments=sys.argv[1:])
