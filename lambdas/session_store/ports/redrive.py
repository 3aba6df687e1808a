"""Letters that could not be done, and doing them again."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from session_store.domain.dead_letter import Letter, Reread, ShardRange


class DeadLetterQueue(Protocol):
    """Letters that wait until somebody removes them."""

    def depth(self) -> int:
        """About how many there are, those that somebody holds among them."""
        ...

    def receive(self, *, most: int, hidden: int) -> Sequence[Letter]:
        """Up to ``most`` letters, which nobody else receives for ``hidden`` seconds; fewer prove nothing.

        None at all: there is none now that nobody else holds.
        """
        ...

    def remove(self, letter: Letter) -> None:
        """For good. One that somebody else has removed is no error."""
        ...

    def release(self, letters: Sequence[Letter]) -> None:
        """Give them back at once, to whoever asks next."""
        ...


class StreamHistory(Protocol):
    def read(self, span: ShardRange) -> Reread:
        """Exactly the records of the range that the stream still holds.

        Raises:
            ThrottledError: it could not be read to the end of the range now.
        """
        ...


class StreamReplay(Protocol):
    def replay(self, records: Sequence[Mapping[str, Any]]) -> Sequence[int]:
        """Hand records to the consumer of the stream once more; the places of those that it did not take.

        Raises:
            ThrottledError: it was not reached, or its answer was lost; it may have taken some.
        """
        ...
