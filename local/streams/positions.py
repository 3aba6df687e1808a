"""How far each mapping has read each shard, kept in a file from one run to the next."""

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where to read on in a shard."""

    after: str | None = None
    """The sequence number of the last record that is done with; None at the shard's beginning."""

    finished: bool = False
    """The shard is closed and all of it is done with."""


class Positions:
    """All methods may be called from any thread. A record is done with before its position is written, so
    what a crash takes from the file is delivered again, never skipped.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        stored = json.loads(file.read_text()) if file.exists() else {}
        self._positions = {
            mapping: {shard: Position(**position) for shard, position in shards.items()}
            for mapping, shards in stored.items()
        }

    def of(self, mapping: str) -> Mapping[str, Position]:
        """By shard; empty for a mapping that has never read."""
        with self._lock:
            return dict(self._positions.get(mapping, {}))

    def keep(self, mapping: str, positions: Mapping[str, Position]) -> None:
        """Beside those that ``mapping`` has in other shards."""
        with self._lock:
            known = self._positions.setdefault(mapping, {})
            if all(known.get(shard) == position for shard, position in positions.items()):
                return
            known.update(positions)
            stored = {
                name: {shard: asdict(position) for shard, position in shards.items()}
                for name, shards in self._positions.items()
            }
            self._file.parent.mkdir(parents=True, exist_ok=True)
            new = self._file.with_suffix(".new")
            new.write_text(json.dumps(stored, indent=1))
            new.replace(self._file)
