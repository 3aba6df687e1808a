"""Dead-letter queues and their redrive."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from session_store.domain.dead_letter import Letter, Reread, ShardRange


class DeadLetterQueue(Protocol):
    """Letters that stay until they are removed."""

    def depth(self) -> int:
        """The approximate number of letters, including those that are being processed."""
        ...

    def receive(self, *, most: int, hidden: int) -> Sequence[Letter]:
        """Receive up to ``most`` letters with a visibility timeout of ``hidden`` seconds.

        Fewer than ``most`` does not mean that the queue has no more. An empty result means that no letter is
        visible now.
        """
        ...

    def remove(self, letter: Letter) -> None:
        """Delete the letter. One that has been deleted already is ignored."""
        ...

    def release(self, letters: Sequence[Letter]) -> None:
        """Make the letters visible again at once."""
        ...


class StreamHistory(Protocol):
    def read(self, span: ShardRange) -> Reread:
        """Read exactly those records of the range that the stream still has.

        Raises:
            ThrottledError: the range could not be read to its end now.
        """
        ...


class StreamReplay(Protocol):
    def replay(self, records: Sequence[Mapping[str, Any]]) -> Sequence[int]:
        """Hand records to the stream's consumer again; returns the positions of those that failed.

        Raises:
            ThrottledError: the consumer was not reached, or its response was lost and it may have
                processed some.
        """
        ...
