"""``python -m bench.operations``: round trips and units of each operation, compared with its bytes."""

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
"""Names and values of a message's two key attributes; those of other items are no longer."""

NO_ITEM: Final = frozenset({"touch_session", "delete_session", "get_health"})
"""Operations that store nothing. A deletion writes the deleted item, and is bounded separately."""

EVENTUAL: Final = frozenset({"list_audit", "list_sessions", "list_expiring"})
"""Lists from an index or the audit trail: eventually consistent, at half the price."""

OF_STATE: Final = frozenset({"change_state", "replace_state", "move_session"})
"""Operations that write the session's item, whose bytes are taken from the answer."""

ABOUT: Final = f"""\
Each operation once, through the API's handler, on small sessions and messages of 1,000 bytes. Round trips
and write units are taken from DynamoDB's responses; read units are computed from the bytes read, by
DynamoDB's rules.

The bound is what a store would need that kept and read only these bytes, without checking who owns the
session and without any index. Per item written it is ceil(({KEY_BYTES} + bytes) / 1024) units, where bytes
are those sent, or those of the session's answer if its item changes. For reads it is
ceil(bytes answered / 4096), halved where the read may be eventually consistent.

Where the store needs more:

- An `increment`, an `append` and an atomic append are transactions, which cost twice the units.
- A new session has an entry in each of two indexes. A status change replaces one entry and updates the other.
- Completing or recording a tool call is one transaction of its claim, its record and an audit event.
  Deleting a session is one of the session and an audit event.
- A message also stores a hash, its author and its regions.
- Reading children first reads their session, strongly consistently."""


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
            # Reads find as many messages and calls as their labels say.
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
    """Bytes of what is stored, per item."""
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
