"""How far each mapping has read each shard, kept in a file between runs."""

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where to continue in a shard."""

    after: str | None = None
    """The sequence number of the last processed record; None at the shard's beginning."""

    finished: bool = False
    """The shard is closed and completely processed."""


class Positions:
    """All methods are thread-safe. A record is processed before its position is written, so a crash leads to
    a repeated delivery, never to a skipped record.
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
        """Positions by shard; empty for a mapping that has never read."""
        with self._lock:
            return dict(self._positions.get(mapping, {}))

    def keep(self, mapping: str, positions: Mapping[str, Position]) -> None:
        """Save these positions, and keep those of other shards."""
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
