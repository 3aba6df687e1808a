"""Records of a stream that were still to be delivered when the runner stopped.

The emulator keeps tables from one run to the next, but forgets their streams' records. So what is not yet
delivered is kept here when the runner stops, and delivered before the stream when it starts again.
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
    """The last record that was done with when the runner stopped."""

    records: Sequence[Record] = ()
    """Those that followed, in order."""

    def covers(self, after: str | None) -> bool:
        """Whether all that came after ``after``, up to that stop, is in here."""
        return after in (self.after, *map(sequence_number, self.records))

    def since(self, after: str | None) -> "Backlog":
        """What is left of it when delivery has come as far as ``after``."""
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
        """None where no run has stopped in order."""
        stored = self._stored.get(mapping, {}).get(shard_id)
        return None if stored is None else Backlog(after=stored["after"], records=tuple(stored["records"]))

    def keep(self, backlogs: Mapping[str, Mapping[str, Backlog]]) -> None:
        """In the place of all that was kept before."""
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
    """A ``reader.RecordSource``: first a backlog, then the stream."""

    backlog: Backlog
    stream: RecordSource
    _place: int = field(default=0)

    def read(self, *, limit: int) -> RecordPage:
        if self._place == len(self.backlog.records):
            return self.stream.read(limit=limit)
        records = self.backlog.records[self._place : self._place + limit]
        self._place += len(records)
        return RecordPage(records=records)


def drained(source: RecordSource, *, limit: int, most_pages: int) -> tuple[Record, ...]:
    """What ``source`` has at the moment, as far as ``most_pages`` reach."""
    records: list[Record] = []
    for _ in range(most_pages):
        page = source.read(limit=limit)
        records.extend(page.records)
        if page.ended or not page.records:
            break
    return tuple(records)
