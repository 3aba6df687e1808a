"""What is priced: each operation of the API once, and whole lives of messages, tool calls, sessions."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from bench.played import Played
from bench.prices import Meter, Usage
from bench.spending import GB, Spent
from bench.workload import (
    ACTIVATE,
    APPEND,
    CHECKPOINT,
    CHECKPOINT_READS,
    CREATE,
    DELETE,
    DRAIN,
    LARGE,
    MESSAGES,
    NEW,
    READ_LARGE,
    READS,
    RECORD,
    SET,
    TOOL_CALLS,
    TOUCH,
    WRITES,
    Request,
    called,
    opened,
)

STATE_WRITES: Final = 5
LIFE: Final = (
    f"a session: created, activated, {MESSAGES} messages, {TOOL_CALLS} tool calls, "
    f"{STATE_WRITES} state writes, ended"
)
ACCESS_LOG_BYTES: Final = 400
"""Assumed size of the gateway's line per call."""

TRACED: Final = 0.05
"""The share of calls that X-Ray samples by default, in addition to one per second."""

AUDIT_MONTHS: Final = 3
SESSION_MONTHS: Final = 1 / 30
"""A day: the assumed time that a session and its children are stored."""

SHORTEST_IDLE: Final = 10
DUE: Final = 1.1
"""Seconds after which the window of ``SHORTEST_IDLE`` moves: a tenth of it, and a little more."""


@dataclass(frozen=True, slots=True)
class Row:
    """``api``: usage of its ``calls``; ``after``: usage of the stream consumer and the clean-up for them."""

    label: str
    api: Spent
    after: Usage
    calls: int = 1
    operation: str = ""
    stored: Usage = field(default_factory=Usage)

    @property
    def usage(self) -> Usage:
        at_the_edge = {Meter.CALL: 1.0, Meter.TRACE: TRACED, Meter.LOG_GB: ACCESS_LOG_BYTES / GB}
        return Usage(at_the_edge) * self.calls + self.api.usage() + self.after + self.stored


def rows(played: Played) -> tuple[list[Row], list[Row]]:
    """Rows of each operation, and of whole lives."""
    session_id, created = opened(played)
    creation = Row(CREATE.label, created, played.audited().usage(), operation=CREATE.operation)
    writes = [row(played, request, session_id) for request in (*WRITES, LARGE, READ_LARGE)]
    called(played, CHECKPOINT, session_id)
    played.audited()
    of_checkpoints = [row(played, request, session_id) for request in CHECKPOINT_READS]
    lived = Lived(played)
    requests = [
        creation,
        *writes,
        *(row(played, request, lived.session_id) for request in READS),
        *of_checkpoints,
        *_short_lived(played),
    ]
    played.expired(session_id)
    empty = children(played, APPEND, 0)
    whole = [
        _whole_life(played, "a message of 1 KB", APPEND, MESSAGES, empty),
        _whole_life(played, "a small tool call", RECORD, TOOL_CALLS, empty),
        Row("the expiry of a session", Spent(), empty, calls=0),
        lived.ended(),
    ]
    return requests, whole


def row(played: Played, request: Request, session_id: str, label: str = "") -> Row:
    spent = called(played, request, session_id)
    return Row(label or request.label, spent, played.audited().usage(), operation=request.operation)


def _short_lived(played: Played) -> Iterator[Row]:
    session_id, _ = opened(played, {**NEW, "idleTimeout": SHORTEST_IDLE})
    played.audited()
    time.sleep(DUE)
    yield row(played, TOUCH, session_id, "touch, window moved")
    yield row(played, DRAIN, session_id)
    deleted = called(played, DELETE, session_id)
    yield Row(DELETE.label, deleted, played.ended(), operation=DELETE.operation)


def children(played: Played, request: Request, count: int) -> Usage:
    """What the end of a session with this many children takes."""
    session_id, _ = opened(played)
    for number in range(count):
        called(played, request, session_id, number)
    played.audited()
    return played.expired(session_id)


def _whole_life(played: Played, label: str, request: Request, count: int, empty: Usage) -> Row:
    """Of one child: written, audited, stored, and its share of deleting ``count`` of them."""
    session_id, _ = opened(played)
    played.audited()
    before = played.stored(session_id)
    written = row(played, request, session_id)
    kept = _kept(played.stored(session_id)) + _kept(before) * -1
    played.expired(session_id)
    share = (children(played, request, count) + empty * -1) * (1 / count)
    return Row(label, written.api, written.after + share, stored=kept)


class Lived:
    """A session in use: created, activated, messages, tool calls, state writes."""

    def __init__(self, played: Played) -> None:
        self._played = played
        self.session_id, created = opened(played)
        steps = [*[RECORD] * TOOL_CALLS, ACTIVATE, *[APPEND] * MESSAGES, *[SET] * STATE_WRITES]
        spent = [called(played, step, self.session_id, number) for number, step in enumerate(steps)]
        self._calls = 1 + len(steps)
        self._api = sum(spent, start=created)
        self._after = played.audited().usage()

    def ended(self) -> Row:
        in_table, _ = self._played.stored(self.session_id)
        after = self._after + self._played.expired(self.session_id)
        _, in_trail = self._played.stored(self.session_id)
        return Row(LIFE, self._api, after, calls=self._calls, stored=_kept((in_table, in_trail)))


def _kept(stored: tuple[int, int]) -> Usage:
    """A day in the table and the retention in the audit table, both with point-in-time recovery."""
    in_table, in_trail = stored
    gb_months = (in_table * SESSION_MONTHS + in_trail * AUDIT_MONTHS) / GB
    return Usage({Meter.STORED: gb_months, Meter.RECOVERABLE: gb_months})
