"""Tasks and approvals: work that waits for a worker, and questions that wait for a decision."""

from enum import StrEnum
from typing import Final

from session_store.domain.claim import LEASE_SKEW_MARGIN_MS, Leased
from session_store.domain.json_values import JsonValue
from session_store.domain.times import DAY_SECONDS

MAX_ATTEMPTS: Final = 5
FIRST_BACK_OFF: Final = 10
"""Seconds of backoff after the first failed attempt; each later failure doubles it."""

DEFAULT_RETENTION: Final = 90 * DAY_SECONDS
LONGEST_RETENTION_DAYS: Final = 3650
LONGEST_DELAY: Final = 30 * DAY_SECONDS
"""Longest delay, in seconds, that a worker may ask for when an attempt fails."""

MAX_NEXT: Final = 25
"""Follow-up tasks that one transaction creates at most."""

MAX_COMMENT: Final = 2000


class TaskKind(StrEnum):
    TASK = "task"
    APPROVAL = "approval"


class TaskStatus(StrEnum):
    PENDING = "pending"
    CLAIMED = "claimed"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"


OPEN: Final = frozenset({TaskStatus.PENDING, TaskStatus.CLAIMED})
DECISIONS: Final = frozenset({TaskStatus.APPROVED, TaskStatus.REJECTED})
STATUSES: Final = {
    TaskKind.TASK: OPEN | {TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED},
    TaskKind.APPROVAL: DECISIONS | {TaskStatus.PENDING, TaskStatus.EXPIRED, TaskStatus.CANCELLED},
}
"""The statuses of each kind."""


class Lapse(StrEnum):
    """Why a task failed by itself; its ``error`` is then ``{"reason": ...}``."""

    DEADLINE = "deadline-passed"
    """Its deadline passed, and no attempt held it."""

    LEASE = "last-lease-over"
    """The lease of its last allowed attempt expired."""


class Task(Leased, frozen=True, kw_only=True):
    """A task or an approval. Instants in milliseconds; ``fence`` is 0 until the first attempt takes it.

    Delivery is at least once, so tasks are always retry-safe.

    ``requester``, ``worker`` and ``decided_by`` are subjects of ``tenant``. ``error`` is the error of the
    last failed attempt. ``retain_seconds``: how long a settled task stays readable. ``last_write`` lets a
    repeated write recognise itself, even where two writes of the same millisecond are otherwise equal.

    ``next_at``: for a pending task when it is due, for a held one its lease expiry, for a settled one when
    it ended. ``claimable_from`` adds the clock-skew margin of the lease.
    """

    status: TaskStatus
    ttl: int | None = None
    fence: int = 0
    lease_until_ms: int = 0
    retry_safe: bool = True
    task_id: str
    kind: TaskKind
    tenant: str
    requester: str
    queue: str
    payload: JsonValue
    result: JsonValue = None
    error: JsonValue = None
    worker: str | None = None
    attempts: int = 0
    session_id: str | None = None
    created_at: int
    due_at: int
    next_at: int
    deadline_ms: int | None = None
    ended_at: int | None = None
    decided_by: str | None = None
    comment: str | None = None
    retain_seconds: int = DEFAULT_RETENTION
    home_region: str
    last_write: str = ""

    @property
    def is_held(self) -> bool:
        return self.status is TaskStatus.CLAIMED

    @property
    def is_settled(self) -> bool:
        return self.status not in OPEN


def claimable_from(task: Task) -> int:
    """When the next attempt may take it: for a held task when its lease has expired on every clock."""
    return task.lease_until_ms + LEASE_SKEW_MARGIN_MS if task.is_held else task.next_at


def lapses_at(task: Task) -> int | None:
    """When the task ends by itself (lapses); None if it never does, or is settled.

    A deadline ends a task that no attempt holds. A task whose last allowed attempt has died ends with the
    lease of that attempt.
    """
    if task.is_settled:
        return None
    if not task.is_held:
        return task.deadline_ms
    free = claimable_from(task)
    if task.attempts >= MAX_ATTEMPTS:
        return free
    return None if task.deadline_ms is None else max(task.deadline_ms, free)


def back_off(attempts: int) -> int:
    """Seconds until the next attempt, after ``attempts`` that failed."""
    seconds: int = FIRST_BACK_OFF * 2 ** (attempts - 1)
    return seconds
