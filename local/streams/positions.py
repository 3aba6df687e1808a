"""How far each mapping has read each shard, in a file that outlives a run."""

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where to continue reading a shard."""

    after: str | None = None
    """The sequence number of the last record handled; None at the beginning of the shard."""

    finished: bool = False
    """The shard is closed and all its records are handled."""


class Positions:
    """Positions by mapping and shard. All methods are thread-safe.

    A position is written after its record was handled, so a crash repeats records but skips none.
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
        """Return a mapping's positions by shard; empty for a new mapping."""
        with self._lock:
            return dict(self._positions.get(mapping, {}))

    def keep(self, mapping: str, positions: Mapping[str, Position]) -> None:
        """Store positions; those in other shards stay."""
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
