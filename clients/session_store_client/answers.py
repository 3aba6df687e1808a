"""What the API answers, typed: the same objects as in ``docs/openapi.json``.

Instants are ISO 8601 in UTC with milliseconds, ``ttl`` is epoch seconds. Members that a later server adds
are passed over.
"""

from collections.abc import Mapping
from typing import Any, Generic, Literal, TypeVar

import msgspec

StatusName = Literal["initializing", "active", "closing", "closed"]
QueueName = Literal["stream", "cleanup"]
TaskKindName = Literal["task", "approval"]
TaskStatusName = Literal[
    "pending", "claimed", "completed", "failed", "cancelled", "approved", "rejected", "expired"
]
ItemT = TypeVar("ItemT")


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A JSON object."""


class Session(Answer, frozen=True):
    """``version`` is what ``If-Match`` and ``Session-Min-Version`` speak of."""

    session_id: str
    status: StatusName
    version: int
    state: Mapping[str, Any]
    protocol: Mapping[str, Any]
    subject: str
    created_at: str
    updated_at: str
    ttl: int
    expires_at: str
    max_expires_at: str
    idle_timeout: int
    home_region: str


class SessionSummary(Answer, frozen=True):
    """A session as a list shows it: without state, and without what every write changes."""

    session_id: str
    status: StatusName
    subject: str
    created_at: str
    ttl: int
    expires_at: str
    max_expires_at: str
    idle_timeout: int
    home_region: str


class ExpiringSession(Answer, frozen=True):
    session_id: str
    status: StatusName
    tenant: str
    subject: str
    ttl: int
    expires_at: str
    home_region: str


class Message(Answer, frozen=True):
    message_id: str
    content: Any
    appended_at: str


class AppendedMessages(Answer, frozen=True):
    """In the order that they were given in."""

    items: tuple[Message, ...]


class Checkpoint(Answer, frozen=True):
    checkpoint_id: str
    namespace: str
    parent_id: str | None
    data: Any
    created_at: str
    expires_at: str


class ToolCall(Answer, frozen=True):
    tool_call_id: str
    tool_name: str
    status: Literal["in_progress", "completed", "failed"]
    input: Any
    output: Any
    error: Any
    started_at: str
    completed_at: str | None
    duration_ms: int | None
    fence: int
    lease_until: str | None


class BegunToolCall(ToolCall, frozen=True):
    """To be run where it is ``in_progress``; else its outcome.

    ``downstream_token`` is the same for every attempt, for a service that takes idempotency keys.
    """

    downstream_token: str


class SessionVersion(Answer, frozen=True):
    version: int
    ttl: int


class FinishedToolCall(ToolCall, frozen=True):
    """``session`` is None where it is gone. ``tasks``: ids of those that were created with the call."""

    session: SessionVersion | None
    tasks: tuple[str, ...]


class OpenCall(Answer, frozen=True):
    """A call that is not settled, without its input."""

    tool_call_id: str
    tool_name: str
    status: Literal["in_progress"]
    started_at: str
    fence: int
    lease_until: str
    retry_safe: bool


class Claim(Answer, frozen=True):
    """``lease_until`` is None once the claim is settled."""

    key: str
    status: Literal["in_progress", "completed", "failed"]
    input: Any
    output: Any
    error: Any
    started_at: str
    completed_at: str | None
    fence: int
    lease_until: str | None
    ttl: int


class BegunClaim(Claim, frozen=True):
    """As ``BegunToolCall``."""

    downstream_token: str


class Task(Answer, frozen=True):
    """``owner`` is the subject that has it in hand, or had it last.

    ``next_at``: when a pending one is due, or the lease of a claimed one ends; None when it is over.
    """

    task_id: str
    kind: TaskKindName
    queue: str
    status: TaskStatusName
    payload: Any
    result: Any
    error: Any
    owner: str | None
    fence: int
    attempts: int
    session_id: str | None
    due_at: str
    next_at: str | None
    deadline: str | None
    created_at: str
    created_by: str
    decided_by: str | None
    comment: str | None
    ended_at: str | None
    retain_until: str | None


class CompletedTask(Task, frozen=True):
    """``next``: the ids of the tasks that were created with it, in their order."""

    next: tuple[str, ...]


class ClaimedTasks(Answer, frozen=True):
    """Fewer than were asked for, or none, where no more are due."""

    items: tuple[Task, ...]


class OpenTask(Answer, frozen=True):
    """A task that is not over, without its payload and what came of it."""

    task_id: str
    kind: TaskKindName
    queue: str
    status: TaskStatusName
    owner: str | None
    fence: int
    attempts: int
    due_at: str
    next_at: str
    deadline: str | None
    created_at: str
    created_by: str


class Recovery(Answer, frozen=True):
    """``in_flight``: being run, or to be begun again. ``outcome_unknown``: to be reconciled first."""

    in_flight: tuple[OpenCall, ...]
    outcome_unknown: tuple[OpenCall, ...]
    open_tasks: tuple[OpenTask, ...]
    checkpoint: Checkpoint | None


class Difference(Answer, frozen=True):
    """``path`` is a JSON Pointer; ``old`` is None where the value was added, ``new`` where it was removed."""

    op: Literal["added", "removed", "changed"]
    path: str
    old: Any
    new: Any


class AuditEntry(Answer, frozen=True):
    kind: Literal["change", "event"]
    event_name: str
    at: str
    actor: str | None
    region: str
    changes: tuple[Difference, ...]
    facts: Mapping[str, Any]
    sequence_number: str | None


class Page(Answer, Generic[ItemT], frozen=True):
    """A page may be short, and empty; only a cursor of None ends the list."""

    items: tuple[ItemT, ...]
    next_cursor: str | None


class HistoryPage(Page[ToolCall], frozen=True):
    """A session together with a page of its finished tool calls."""

    session: Session


class Drained(Answer, frozen=True):
    """``skipped`` were used or ended meanwhile, or are at home elsewhere. ``more``: call again."""

    moved: int
    skipped: int
    more: bool


class ShardRange(Answer, frozen=True):
    """Records of the stream; ``batch_size`` is how many of them the consumer was given."""

    shard_id: str
    start_sequence_number: str
    end_sequence_number: str
    batch_size: int


class Letter(Answer, frozen=True):
    """It points at a shard's range or at a session; at neither where it is ``unreadable``, which says why."""

    message_id: str
    sent_at: str
    receive_count: int
    condition: str | None
    shard_range: ShardRange | None
    session_id: str | None
    unreadable: str | None


class DeadLetterQueue(Answer, frozen=True):
    """``depth`` is approximate."""

    queue: QueueName
    depth: int
    letters: tuple[Letter, ...]


class Quarantine(Answer, frozen=True):
    """``more``: there are more than were counted."""

    records: int
    more: bool


class DeadLetters(Answer, frozen=True):
    queues: tuple[DeadLetterQueue, ...]
    quarantine: Quarantine


class RedrivenLetter(Answer, frozen=True):
    """``records``: how many the consumer of the stream took. A letter that was not redriven stays."""

    message_id: str
    queue: QueueName
    outcome: Literal["replayed", "failed", "trimmed", "partly-trimmed", "requeued", "unreadable"]
    records: int
    detail: str | None


class Redriven(Answer, frozen=True):
    """``more``: the limit or the time was reached first; call again."""

    items: tuple[RedrivenLetter, ...]
    more: bool


class Health(Answer, frozen=True):
    status: Literal["ok"]
