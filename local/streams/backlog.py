"""Stream records that were not yet delivered when the runner stopped.

The emulator keeps tables between runs, but not their streams' records. Undelivered records are therefore
saved here when the runner stops, and delivered before the stream when it starts again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from local.streams.reader import Page, RecordSource
from local.streams.records import Record, sequence_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    after: str | None = None
    """The last record that was processed when the runner stopped."""

    records: Sequence[Record] = ()
    """The records after it, in order."""

    def covers(self, after: str | None) -> bool:
        """Whether it has all records after ``after``, up to that stop."""
        return after in (self.after, *map(sequence_number, self.records))

    def since(self, after: str | None) -> "Backlog":
        """The records that remain when delivery has reached ``after``."""
        if after == self.after:
            return self
        done = [place for place, record in enumerate(self.records, 1) if sequence_number(record) == after]
        return Backlog(after=after, records=self.records[done[0] :] if done else ())

    @property
    def end(self) -> str | None:
        return sequence_number(self.records[-1]) if self.records else self.after


class Backlogs:
    """By mapping and shard, in one file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._stored = json.loads(file.read_text()) if file.exists() else {}

    def of(self, mapping: str, shard_id: str) -> Backlog | None:
        """None if no run has stopped in order."""
        stored = self._stored.get(mapping, {}).get(shard_id)
        return None if stored is None else Backlog(after=stored["after"], records=tuple(stored["records"]))

    def keep(self, backlogs: Mapping[str, Mapping[str, Backlog]]) -> None:
        """Replaces everything saved before."""
        stored = {
            mapping: {
                shard: {"after": one.after, "records": list(one.records)} for shard, one in shards.items()
            }
            for mapping, shards in backlogs.items()
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(stored))
        new.replace(self._file)


@dataclass(slots=True, kw_only=True)
class Resumed:
    """A ``reader.RecordSource``: first a backlog, then the stream."""

    backlog: Backlog
    stream: RecordSource
    _place: int = field(default=0)

    def read(self, *, limit: int) -> Page:
        if self._place == len(self.backlog.records):
            return self.stream.read(limit=limit)
        records = self.backlog.records[self._place : self._place + limit]
        self._place += len(records)
        return Page(records=records)


def drained(source: RecordSource, *, limit: int, most_pages: int) -> tuple[Record, ...]:
    """The records that ``source`` has now, in at most ``most_pages`` pages."""
    records: list[Record] = []
    for _ in range(most_pages):
        page = source.read(limit=limit)
        records.extend(page.records)
        if page.ended or not page.records:
            break
    return tuple(records)
