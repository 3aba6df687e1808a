"""``python -m bench.operations``: round trips and units of each operation, next to what its bytes take."""

import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.played import Played
from bench.report import publish, table
from bench.spending import READ_UNIT, Spent, write_units
from bench.workload import (
    CHECKPOINT,
    CHECKPOINT_READS,
    CREATE,
    DELETE,
    READS,
    RECORD,
    TOOL_CALLS,
    WRITES,
    Request,
    answered,
    called,
    opened,
)
from local.emulator import running
from local.loopback import free_port

KEY_BYTES: Final = 2 + len("session#use1-") + 32 + 2 + len("context#") + 36
"""Names and values of the two key attributes of a message; those of the other items are no longer."""

NO_ITEM: Final = frozenset({"touch_session", "delete_session", "get_health"})
"""What keeps nothing, or takes something away: a deletion writes the item that goes, and is judged apart."""

EVENTUAL: Final = frozenset({"list_audit", "list_sessions", "list_expiring"})
"""Lists by an index, or of the trail: read eventually consistently, at half the price."""

OF_STATE: Final = frozenset({"change_state", "replace_state", "move_session"})
"""They write the session's item, whose bytes are those of the answer."""

ABOUT: Final = f"""\
Each operation once, through the API's handler, on small sessions and messages of 1,000 bytes. Round trips
and write units are from the answers; read units from the bytes that were read, by DynamoDB's rules. The
bounds are what a store would take that kept and read these bytes and nothing else, neither checking whose
session it is nor listing it anywhere: for writing ceil(({KEY_BYTES} + bytes sent, or of the session's
answer where its item changes) / 1024) units an item, for reading ceil(bytes answered / 4096), halved
where the read may be eventual. Where we take more: an `increment` or `append` and an atomic append are
transactions, at twice the units; a new session has an entry in each of two indexes, a moved one a new
entry in one of them for the old; a tool call is its claim, its record and its event in one transaction, a
deletion the session and its event; a message carries a hash, its author and its regions; reading children
reads their session, consistently, before."""


@dataclass(frozen=True, slots=True)
class Bound:
    writes: int
    reads: float


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    spent: Spent
    bound: Bound


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "emulator", port=free_port()) as emulator,
    ):
        found = list(rows(Played(emulator, Path(folder))))
    publish("Operations", command="python -m bench.operations", about=ABOUT, results=shown(found))


def rows(played: Played) -> Iterator[Row]:
    session_id, created = opened(played)
    yield Row(CREATE.label, created, bound_of(CREATE, answered=0))
    for request in (*WRITES, *READS, *CHECKPOINT_READS, DELETE):
        if request in READS and request is READS[0]:
            # Reading finds as many messages and calls as its label says.
            session_id = _filled(played)
        answer, spent = answered(played, request, session_id)
        yield Row(request.label, spent, bound_of(request, answered=size(answer)))


def _filled(played: Played) -> str:
    session_id, _ = opened(played)
    for number in range(TOOL_CALLS):
        called(played, RECORD, session_id, number)
    append = next(request for request in WRITES if request.operation == "append_messages")
    for _ in range(20):
        called(played, append, session_id)
    called(played, CHECKPOINT, session_id)
    played.audited()
    return session_id


def size(value: object) -> int:
    """Bytes of a value as JSON."""
    return len(json.dumps(value, separators=(",", ":")).encode())


def bound_of(request: Request, *, answered: int) -> Bound:
    """``answered``: bytes of the answer."""
    if request.method == "GET":
        steps = 0 if request.operation in NO_ITEM else max(1, math.ceil(answered / READ_UNIT))
        return Bound(0, steps / 2 if request.operation in EVENTUAL else steps)
    return Bound(sum(write_units(KEY_BYTES + each) for each in _items(request, answered)), 0)


def _items(request: Request, answered: int) -> Sequence[int]:
    """Bytes of what is kept, an item each."""
    if request.operation in NO_ITEM:
        return [0] if request.operation == DELETE.operation else []
    if request.operation in OF_STATE:
        return [answered]
    sent: Any = request.body
    return [size(message) for message in sent["messages"]] if "messages" in sent else [size(sent)]


def shown(found: Sequence[Row]) -> str:
    heads = ("", "round trips", "write units", "bound", "ratio", "read units", "bound", "ratio")
    return table(heads, [_cells(row) for row in found])


def _cells(row: Row) -> Sequence[str]:
    writes, reads = float(row.spent.writes.total()), row.spent.reads
    return (
        row.label,
        str(row.spent.round_trips),
        *_over(writes, row.bound.writes),
        *_over(reads, row.bound.reads),
    )


def _over(units: float, bound: float) -> tuple[str, str, str]:
    return f"{units:g}", f"{bound:g}", f"{units / bound:.2f}" if bound else "-"


if __name__ == "__main__":
    main()
