"""Stream records that were not yet delivered when the runner stopped.

The emulator keeps tables between runs but loses their streams' records. So undelivered records are saved when
the runner stops, and delivered before the stream at its next start.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from local.streams.reader import RecordPage, RecordSource
from local.streams.records import Record, sequence_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    after: str | None = None
    """The last record handled before the runner stopped."""

    records: Sequence[Record] = ()
    """The records after it, in order."""

    def covers(self, after: str | None) -> bool:
        """Return whether all records after ``after``, up to that stop, are in the backlog."""
        return after in (self.after, *map(sequence_number, self.records))

    def since(self, after: str | None) -> "Backlog":
        """Return what is left of the backlog once ``after`` has been delivered."""
        if after == self.after:
            return self
        positions = [
            position for position, record in enumerate(self.records, 1) if sequence_number(record) == after
        ]
        return Backlog(after=after, records=self.records[positions[0] :] if positions else ())

    @property
    def end(self) -> str | None:
        return sequence_number(self.records[-1]) if self.records else self.after


class Backlogs:
    """Backlogs by mapping and shard, in one file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._stored = json.loads(file.read_text()) if file.exists() else {}

    def of(self, mapping: str, shard_id: str) -> Backlog | None:
        """Return a shard's backlog; None if no earlier run stopped cleanly."""
        stored = self._stored.get(mapping, {}).get(shard_id)
        return None if stored is None else Backlog(after=stored["after"], records=tuple(stored["records"]))

    def keep(self, backlogs: Mapping[str, Mapping[str, Backlog]]) -> None:
        """Save ``backlogs`` in place of all earlier ones."""
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
class ResumedSource:
    """A ``reader.RecordSource`` that reads a backlog first, then the stream."""

    backlog: Backlog
    stream: RecordSource
    _position: int = field(default=0)

    def read(self, *, limit: int) -> RecordPage:
        if self._position == len(self.backlog.records):
            return self.stream.read(limit=limit)
        records = self.backlog.records[self._position : self._position + limit]
        self._position += len(records)
        return RecordPage(records=records)


def drain(source: RecordSource, *, limit: int, max_pages: int) -> tuple[Record, ...]:
    """Read the records that ``source`` has now, at most ``max_pages`` pages."""
    records: list[Record] = []
    for _ in range(max_pages):
        page = source.read(limit=limit)
        records.extend(page.records)
        if page.ended or not page.records:
            break
    return tuple(records)
