"""``python -m bench.claims``: the cost of doing work once, compared with Powertools' idempotency layer."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench.ground import AUDIT_TABLE, TABLE, Ground, ground
from bench.once import IDEMPOTENCY_TABLE, POWERTOOLS, Call, Key, Once, Powertools, create_idempotency_table
from bench.report import publish, table
from bench.spending import Spending, Spent, item_bytes, write_units
from session_store.settings import Settings, read_settings

OUTPUTS: Final[Mapping[str, object]] = {"a small output": {"hits": 3}, "32 KB": {"text": "x" * 32 * 1024}}
MAKERS: Final[Sequence[Callable[[Any, Settings], Once]]] = (Call.on, Key.on, Powertools.on)
ABOUT: Final = """\
A piece of work done once and then requested again: through the library's blocks, and through
`idempotent_function` of Powertools on a table as its documentation defines it, on the same emulator. Round
trips and units are taken from DynamoDB's responses. Responses do not report the units of a refused write, so
they are computed from the larger of the existing item and the one that was sent (*DynamoDB read and write
operations*, Amazon DynamoDB Developer Guide). The bound is the sum of the whole units of the items written,
as they are in the tables after begin and after completion, those of a transaction counted double. No store
that keeps these items can need less.

- **A claim and Powertools' layer are comparable**: one item that remembers an outcome. A claim additionally
  has an owner, the input, a fencing token without which it cannot be completed (hence the read before), a
  renewable lease, and an unknown outcome if its holder died. Powertools completes and deletes whatever is
  there, takes over what an earlier invocation left once its time is over, and deletes the claim when the work
  raises, so that the work is done again.
- **A tool call does more than either.** It is checked against its session and completed by one transaction
  with a record of its own and an audit event. State changes, messages and a status change of the session can
  be part of that transaction. Its outcome is in the record, so a repeat writes against a small item."""


@dataclass(frozen=True, slots=True)
class Row:
    """``bound``: units of the items written. ``again``: what a repeat takes."""

    way: str
    size: str
    begun: Spent
    completed: Spent
    bound: int
    again: Spent

    @property
    def whole(self) -> Spent:
        return self.begun + self.completed


def main() -> None:
    with ground() as where:
        create_idempotency_table(where.plain)
        found = list(rows(where))
    publish("Work done once", command="python -m bench.claims", about=ABOUT, results=shown(found))


def rows(where: Ground) -> Iterator[Row]:
    for make in MAKERS:
        client, spending = where.watched()
        way = make(client, read_settings(os.environ))
        for size, output in OUTPUTS.items():
            yield measured(way, size, output, spending, Tables(where.plain))


def measured(way: Once, size: str, output: object, spending: Spending, tables: "Tables") -> Row:
    work = size.replace(" ", "-")
    halfway: list[tuple[Spent, int]] = []

    def act() -> Any:  # noqa: ANN401 - what the work brings
        halfway.append((spending.taken(), tables.written()))
        return output

    spending.taken()
    assert way.do(work, act) == output
    completed = spending.taken()
    ((begun, first),) = halfway
    bound = first + tables.written() * (2 if way.doubled else 1)
    assert way.do(work, act) == output
    assert len(halfway) == 1
    return Row(way.name, size, begun, completed, bound, spending.taken())


class Tables:
    """What has changed in the tables since the last look."""

    def __init__(self, plain: Any) -> None:  # noqa: ANN401 - boto3 makes it at run time
        self._plain = plain
        self._before = self._items()

    def written(self) -> int:
        """Whole units of the items that are new or changed."""
        before, self._before = self._before, self._items()
        changed = (item for key, item in self._before.items() if before.get(key) != item)
        return sum(write_units(item_bytes(item)) for item in changed)

    def _items(self) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        names = (TABLE, AUDIT_TABLE, IDEMPOTENCY_TABLE)
        found = ((name, item) for name in names for item in self._plain.scan(TableName=name)["Items"])
        return {(name, str([item.get(part) for part in ("pk", "sk", "id")])): item for name, item in found}


def shown(found: Sequence[Row]) -> str:
    peers = {row.size: row for row in found if row.way == POWERTOOLS}
    heads = (
        "begin and complete",
        "round trips",
        "write units",
        "bound",
        "**over the bound**",
        "read units",
        "round trips over Powertools",
        "write units over Powertools",
    )
    again = ("repeat", "round trips", "write units", "read units", "write units over Powertools")
    return "\n\n".join(
        (
            table(heads, [_cells(row, peers[row.size]) for row in found]),
            table(again, [_cells_again(row, peers[row.size]) for row in found]),
        )
    )


def _cells(row: Row, peer: Row) -> Sequence[str]:
    mine, others = row.whole, peer.whole
    begun, completed = row.begun, row.completed
    return (
        _label(row),
        f"{begun.round_trips} + {completed.round_trips}",
        f"{begun.writes.total():g} + {completed.writes.total():g}",
        str(row.bound),
        f"**{mine.writes.total() / row.bound:.2f}**",
        f"{mine.reads:g}",
        f"{mine.round_trips / others.round_trips:.2f}",
        f"{mine.writes.total() / others.writes.total():.2f}",
    )


def _cells_again(row: Row, peer: Row) -> Sequence[str]:
    units = row.again.writes.total()
    return (
        _label(row),
        str(row.again.round_trips),
        f"{units:g}",
        f"{row.again.reads:g}",
        f"{units / peer.again.writes.total():.2f}",
    )


def _label(row: Row) -> str:
    return f"{row.way}: {row.size}"


if __name__ == "__main__":
    main()
