"""Which REMOVE records of a stream the sweeper wrote, by sequence number.

DynamoDB marks the record of an expired item with its service identity; the emulator does not. So the sweeper
notes the record of each item that it deletes, and readers of the stream look it up here. The notes are in a
file, so that a record delivered after a restart still has the identity. A record lacks it only if the process
is killed between a deletion and its note; consumers also detect an expiry by the old image's ttl.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

KEPT_SECONDS: Final = 25 * 60 * 60
"""Longer than a stream's retention."""

Note = Callable[[str, str], None]
"""Called with a stream's ARN and the sequence number of a record in it."""


class SweptRecords:
    """All methods are thread-safe."""

    def __init__(self, file: Path, *, now: Callable[[], float] = time.time) -> None:
        self._file = file
        self._now = now
        self._lock = threading.Lock()
        lines = file.read_text().splitlines() if file.exists() else []
        kept = [note for note in map(_note, lines) if note is not None and note[2] > now() - KEPT_SECONDS]
        self._records = {(stream, number) for stream, number, _ in kept}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{json.dumps(note)}\n" for note in kept))

    def holds(self, stream_arn: str, sequence_number: str) -> bool:
        """Waits for a deletion in progress: its record may be in the stream before its note is here."""
        with self._lock:
            return (stream_arn, sequence_number) in self._records

    @contextlib.contextmanager
    def sweeping(self) -> Iterator[Note]:
        """Covers one deletion, from before the request until its record is noted."""
        with self._lock:
            yield self._add

    def _add(self, stream_arn: str, sequence_number: str) -> None:
        self._records.add((stream_arn, sequence_number))
        with self._file.open("a") as file:
            file.write(f"{json.dumps([stream_arn, sequence_number, self._now()])}\n")


def _note(line: str) -> tuple[str, str, float] | None:
    """None for a line truncated by a crash."""
    try:
        stream, number, noted = json.loads(line)
    except ValueError:
        return None
    return stream, number, noted
