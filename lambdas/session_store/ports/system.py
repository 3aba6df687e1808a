"""The machine: time and randomness."""

from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...


class Ids(Protocol):
    def session_id(self, region: str) -> str: ...

    def task_id(self, region: str) -> str: ...

    def message_id(self, now_ms: int, *, after: str | None = None) -> str:
        """A UUIDv7 greater than any that this process minted before, and than ``after``."""
        ...

    def operation_id(self) -> str:
        """A unique id of at most 36 characters, which can serve as a ClientRequestToken."""
        ...
