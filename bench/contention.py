"""``python -m bench.contention``: 64 writers of one session, and the same writes spread over 64 sessions."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from bench.ground import ground
from bench.peers import OneItem, Ours, Peer, RefusedError
from bench.report import publish, table
from session_store.settings import read_settings

WRITERS: Final = 64
WRITES: Final = 4
"""Per writer, one after the other."""

CONFLICT: Final = "TransactionConflict"
SEEN: Final = {"UpdateItem", "TransactWriteItems"}
ABOUT: Final = f"""\
{WRITERS} threads each increment a counter {WRITES} times: first all in one session at once, then each in a
session of its own. They use the library's use cases, since a function answers one request at a time.

The emulator has no transaction conflicts, so the benchmark adds them: a write that arrives while a
transaction on its item is under way is refused as DynamoDB refuses it, and so is a transaction that arrives
while any write is. Under way means the round trip from this process, including threads waiting for each
other: many times the duration within DynamoDB. For comparison, one item with a version: read, written if
unchanged, three retries.

*Refused*: answered, with nothing written. *Lost*: acknowledged, but not found afterwards. *Attempts*: writes
sent for each that succeeded. Time is that of the whole run, over that of the spread writes."""


@dataclass(frozen=True, slots=True)
class Run:
    """``sent``: write requests; ``held``: the sum of the counters at the end."""

    asked: int
    refused: int
    sent: int
    held: int
    seconds: float

    @property
    def done(self) -> int:
        return self.asked - self.refused

    @property
    def lost(self) -> int:
        return self.done - self.held


class Conflicts:
    """DynamoDB's refusal of writes that conflict with a transaction, which the emulator lacks."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - boto3 makes it at run time
        self.sent = 0
        self._under_way: Counter[tuple[str, bool]] = Counter()
        self._mine = threading.local()
        self._lock = threading.Lock()
        client.meta.events.register("provide-client-params.dynamodb", self._look)
        client.meta.events.register("before-call.dynamodb", self._begin)
        client.meta.events.register_first("after-call.dynamodb", self._end)

    def _look(self, params: Mapping[str, Any], model: Any, **_: Any) -> None:  # noqa: ANN401 - botocore's own
        self._mine.key = key_of(model.name, params)

    def _begin(self, model: Any, **_: Any) -> tuple[Any, Any] | None:  # noqa: ANN401 - likewise
        if model.name not in SEEN:
            return None
        key, transaction = self._mine.key, model.name == "TransactWriteItems"
        with self._lock:
            self.sent += 1
            meets = self._under_way[key, True] or (transaction and self._under_way[key, False])
            self._mine.begun = None if meets else (key, transaction)
            if not meets:
                self._under_way[key, transaction] += 1
        return refusal(transaction=transaction) if meets else None

    def _end(self, model: Any, **_: Any) -> None:  # noqa: ANN401 - likewise
        if model.name in SEEN and self._mine.begun is not None:
            with self._lock:
                self._under_way[self._mine.begun] -= 1


def key_of(operation: str, params: Mapping[str, Any]) -> str:
    """The key of the one item that is written."""
    if operation == "UpdateItem":
        return repr(params["Key"])
    if operation == "TransactWriteItems":
        return repr(params["TransactItems"][0]["Update"]["Key"])
    return ""


def refusal(*, transaction: bool) -> tuple[Any, Any]:
    """In the form of a parsed botocore response."""
    code = "TransactionCanceledException" if transaction else "TransactionConflictException"
    told = {"CancellationReasons": [{"Code": CONFLICT}]} if transaction else {}
    parsed = {"Error": {"Code": code, "Message": ""}, "ResponseMetadata": {"HTTPStatusCode": 400}, **told}
    return SimpleNamespace(status_code=400), parsed


def main(writers: int = WRITERS) -> None:
    makers: Sequence[Callable[[Any], Peer]] = (
        lambda client: Ours.on(client, read_settings(os.environ)),
        OneItem,
    )
    rows: list[Sequence[str]] = []
    with ground() as where:
        for make in makers:
            client, _ = where.watched()
            conflicts = Conflicts(client)
            peer = make(client)
            one = run(peer, [peer.open()] * writers, conflicts)
            spread = run(peer, [peer.open() for _ in range(writers)], conflicts)
            rows += _rows(peer.name, one, spread)
    heads = ("", "requested", "succeeded", "refused", "lost", "attempts per write", "time over spread")
    command = "python -m bench.contention"
    publish("Contention", command=command, about=ABOUT, results=table(heads, rows))


def run(peer: Peer, sessions: Sequence[str], conflicts: Conflicts) -> Run:
    """One writer per session in the list, which may repeat one session."""
    before, began = conflicts.sent, time.perf_counter()
    start = threading.Barrier(len(sessions))

    def write(session: str) -> int:
        start.wait()
        return sum(_refused(peer, session) for _ in range(WRITES))

    with ThreadPoolExecutor(len(sessions)) as pool:
        refused = sum(pool.map(write, sessions))
    seconds = time.perf_counter() - began
    return Run(
        asked=len(sessions) * WRITES,
        refused=refused,
        sent=conflicts.sent - before,
        held=sum(peer.counted(session) for session in set(sessions)),
        seconds=seconds,
    )


def _refused(peer: Peer, session: str) -> bool:
    try:
        peer.increment(session)
    except RefusedError:
        return True
    return False


def _rows(name: str, one: Run, spread: Run) -> Iterator[Sequence[str]]:
    for label, made in ((f"{name}: one session", one), (f"{name}: a session each", spread)):
        yield (
            label,
            str(made.asked),
            str(made.done),
            str(made.refused),
            f"**{made.lost}**",
            f"{made.sent / max(1, made.done):.2f}",
            f"{made.seconds / spread.seconds:.2f}",
        )


if __name__ == "__main__":
    main()
