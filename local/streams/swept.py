"""The REMOVE records that the sweeper caused, by sequence number.

DynamoDB marks the record of an expired item with its own identity; the emulator does not. So the sweeper
notes the record of each item that it deletes, and readers of the stream add the identity. The notes are in a
file, so records delivered after a restart have it too. Only if the process is killed between a deletion and
its note is it missing; consumers also recognise an expiry by the old image's ttl.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

RETENTION_SECONDS: Final = 25 * 60 * 60
"""Longer than a stream keeps a record."""

Note = Callable[[str, str], None]
"""Called with a stream's ARN and the sequence number of a record."""


class SweptRecords:
    """The notes of deletions. All methods are thread-safe."""

    def __init__(self, file: Path, *, now: Callable[[], float] = time.time) -> None:
        self._file = file
        self._now = now
        self._lock = threading.Lock()
        lines = file.read_text().splitlines() if file.exists() else []
        current = [
            note for note in map(_note, lines) if note is not None and note[2] > now() - RETENTION_SECONDS
        ]
        self._records = {(stream, number) for stream, number, _ in current}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{json.dumps(note)}\n" for note in current))

    def holds(self, stream_arn: str, sequence_number: str) -> bool:
        """Return whether the sweeper caused the record. Waits for a deletion in progress to be noted."""
        with self._lock:
            return (stream_arn, sequence_number) in self._records

    @contextlib.contextmanager
    def sweeping(self) -> Iterator[Note]:
        """Hold the lock for one deletion, from its request until its record is noted."""
        with self._lock:
            yield self._add

    def _add(self, stream_arn: str, sequence_number: str) -> None:
        self._records.add((stream_arn, sequence_number))
        with self._file.open("a") as file:
            file.write(f"{json.dumps([stream_arn, sequence_number, self._now()])}\n")


def _note(line: str) -> tuple[str, str, float] | None:
    """Parse a note; None for a line truncated by a crash."""
    try:
        stream, number, noted = json.loads(line)
    except ValueError:
        return None
    return stream, number, noted
