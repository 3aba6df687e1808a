"""How a worker claims due tasks of a queue."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.claim import Step
from session_store.domain.payload import payload_size
from session_store.domain.session import author_of
from session_store.domain.task import Task
from session_store.domain.task_steps import lapsed, taken
from session_store.errors import OutcomeUnknownError, ThrottledError
from session_store.ports import TaskStorage
from session_store.services.tasks.access import TaskAccess

CANDIDATES: Final = 10
"""How many due tasks beyond those wanted a claim picks from at random, so that workers seldom collide."""

MAX_READ_AT_ONCE: Final = 20
MAX_READ: Final = 400
"""Tasks that one call reads: where other workers have just claimed so many, it finds none for now."""

MAX_LAPSES: Final = 5
"""Ends of lapsed tasks that one call writes. It passes over the others; ``expiry_watch`` writes theirs."""

MAX_BYTES: Final = 1_200_000
"""Bytes of JSON past which a call claims no further task: the answer must fit into a Lambda response."""


class QueueClaim(Struct, frozen=True, kw_only=True):
    """A claim of up to ``most`` due tasks. ``shuffle`` puts a list into random order in place."""

    storage: TaskStorage
    access: TaskAccess
    shuffle: Callable[[list[Any]], None]
    caller: Caller
    queue: str
    lease_seconds: int
    most: int

    def run(self) -> list[Task]:
        """Claim the tasks, and write the ends of a few that have lapsed on the way to them."""
        claimed: list[Task] = []
        lapses = 0
        try:
            for task in self._candidates():
                now_ms = self.access.clock.now_ms()
                end = lapsed(task, author=author_of(self.caller), now_ms=now_ms)
                if end is not None:
                    if lapses < MAX_LAPSES:
                        self._write(end)
                    lapses += 1
                    continue
                held = self._write(self._taken(task, now_ms))
                if held is not None:
                    claimed.append(held)
                if len(claimed) == self.most or sum(map(_size, claimed)) > MAX_BYTES:
                    break
        except (OutcomeUnknownError, ThrottledError):
            # Tasks claimed so far are returned: no other worker could have them before their leases expire.
            if not claimed:
                raise
        return claimed

    def _candidates(self) -> Iterator[Task]:
        """Due tasks as they are now, so that an outdated index entry costs no write.

        As many are read at first as are wanted, and twice as many each time that those did not suffice.
        """
        read, wanted = 0, self.most
        for ids in self.storage.due(
            self.caller.tenant,
            self.queue,
            region=self.access.home.region,
            now_ms=self.access.clock.now_ms(),
            limit=CANDIDATES + self.most,
            shuffle=self.shuffle,
        ):
            order = list(ids)
            self.shuffle(order)
            while order:
                part, order = order[:wanted], order[wanted:]
                stored = self.storage.read_all(part)
                yield from (stored[task_id] for task_id in part if task_id in stored)
                read, wanted = read + len(part), min(2 * wanted, MAX_READ_AT_ONCE)
            if read >= MAX_READ:
                return

    def _taken(self, task: Task, now_ms: int) -> Step[Task] | None:
        return taken(
            task,
            worker=self.caller.subject,
            lease_seconds=self.lease_seconds,
            author=author_of(self.caller),
            now_ms=now_ms,
        )

    def _write(self, step: Step[Task] | None) -> Task | None:
        """The task as it was written; None if there is nothing to write, or another write was faster."""
        if step is None or step.guard is None:
            return None
        written = self.access.with_write_id(step).claim
        return written if self.storage.put(written, step.guard) is None else None


def _size(task: Task) -> int:
    return payload_size(task.payload) + payload_size(task.error)
