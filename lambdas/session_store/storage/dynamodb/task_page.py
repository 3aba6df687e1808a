"""The contents of a page of a task list as it is filled, and how many tasks to read at once for it."""

from typing import Final

from msgspec import Struct, field

from session_store.domain.task import Task
from session_store.storage.dynamodb.partition import PAGE_BYTES

FIRST_BATCH: Final = 20
"""Tasks that are read at once while no size is known. They may be large: six megabytes at most."""

LARGEST_BATCH: Final = 50
"""Tasks that are read at once at most: 15 MB, which one BatchGetItem returns."""


class TaskPage(Struct, kw_only=True):
    """The tasks of a page, each once: up to ``limit`` of them and about ``PAGE_BYTES``.

    ``first_batch``: tasks to read at once before the first of this page is known.
    """

    limit: int
    first_batch: int
    tasks: dict[str, Task] = field(default_factory=dict)
    size: int = 0
    overflowed: bool = False

    @property
    def full(self) -> bool:
        return self.overflowed or len(self.tasks) == self.limit

    def add(self, task: Task, *, size: int) -> None:
        """Add a task, unless it would make the page too large; a page has one task at least."""
        if task.task_id in self.tasks:
            return
        self.size += size
        self.overflowed = bool(self.tasks) and self.size > PAGE_BYTES
        if not self.overflowed:
            self.tasks[task.task_id] = task

    @property
    def batch(self) -> int:
        """How many tasks to read next: those that fit at the average size so far, and one more."""
        return self._fitting(PAGE_BYTES - self.size)

    @property
    def next_batch(self) -> int:
        """How many to read first for the page after this one."""
        return self._fitting(PAGE_BYTES)

    def _fitting(self, room: int) -> int:
        sized = len(self.tasks) + self.overflowed
        batch = max(0, room) * sized // self.size + 1 if sized else self.first_batch
        return min(batch, LARGEST_BATCH)
