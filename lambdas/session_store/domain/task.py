"""Tasks and approvals: work that waits for whoever takes it, and questions that wait for an answer."""

from enum import StrEnum
from typing import Final

from session_store.domain.claim import LEASE_SKEW_MARGIN_MS, Leased
from session_store.domain.json_values import JsonValue
from session_store.domain.times import DAY_SECONDS

MAX_ATTEMPTS: Final = 5
FIRST_BACK_OFF: Final = 10
"""Seconds until a task may be taken again whose first attempt failed; each later failure doubles them."""

DEFAULT_RETENTION: Final = 90 * DAY_SECONDS
LONGEST_RETENTION_DAYS: Final = 3650
LONGEST_DELAY: Final = 30 * DAY_SECONDS
"""Seconds that a failed task may be put off by who failed it."""

MAX_NEXT: Final = 25
"""Tasks that one transaction creates beside what it is for."""

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
"""What each kind may be."""


class Lapse(StrEnum):
    """Why a task failed that nobody failed: its ``error`` is ``{"reason": ...}``."""

    DEADLINE = "deadline-passed"
    LEASE = "last-lease-over"


class Task(Leased, frozen=True, kw_only=True):
    """Instants in milliseconds. It may always be done again; ``fence`` is 0 until it is first taken.

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
    """When somebody may take it: a lease that is over must be over by every clock."""
    return task.lease_until_ms + LEASE_SKEW_MARGIN_MS if task.is_held else task.next_at


def lapses_at(task: Task) -> int | None:
    """When it ends if nobody does anything about it; None where it waits for ever, or is over.

    A deadline ends what nobody has in hand; a last attempt that died ends with its lease.
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
    """Seconds until the next attempt, after so many that failed."""
    seconds: int = FIRST_BACK_OFF * 2 ** (attempts - 1)
    return seconds
